import { remember } from "./remember.ts";

/**
 * One failure in the words of V8, SpiderMonkey and JavaScriptCore. `name` or `own` is what the failure is
 * about, `place` an expression of which the last member is that, `object` and `call` a method.
 */
interface Failure {
  /** What stands for all of them. */
  text: string;
  wordings: RegExp[];
  /** Only errors of this type are it: the wordings are as a person's may be. */
  type?: string;
}

/** Firefox names them as a person may name a class of theirs, whose messages are not the engine's. */
const BROWSER_OBJECTS =
  "(?:HTML|SVG)\\w*Element|IDB\\w+|RTC\\w+|(?:Window|Document|Element|Node|Range|Selection|Response|Request|Headers|Storage|XMLHttpRequest|FormData|URL|URLSearchParams|WebSocket|Worker|Blob|File|FileReader|DOMTokenList|CSSStyleSheet|CustomElementRegistry|History|Location|Navigator|Clipboard|Crypto|SubtleCrypto|AudioContext|CanvasRenderingContext2D|EventTarget|MutationObserver|IntersectionObserver|ResizeObserver|PerformanceObserver|AbortSignal|ReadableStream|TextDecoder|Notification|BroadcastChannel|MessagePort)";

const FAILURES: Failure[] = [
  {
    text: "not iterable",
    wordings: [
      /^.+ is not iterable(?: \(cannot read property .*\))?$/s,
      /^.+ is not async iterable$/s,
      /^.+ is not a function or its return value is not iterable$/s,
      /^Spread syntax requires \.\.\.iterable/,
      /^can't access property Symbol\.iterator, .+ is (?:null|undefined)$/s,
      /^(?:null|undefined) is not an object \(evaluating '(?:.+ of .+|\[.*\])'\)$/s,
      /^undefined is not a function \(near '\.\.\..*\.\.\.'\)$/s,
    ],
  },
  {
    text: "nullish destructured",
    wordings: [
      /^Cannot destructure (?:property '.*' of )?'(?<place>.*)' as it is (?:null|undefined)\.$/s,
      /^\((?:intermediate value|destructured parameter)\) is (?:null|undefined)$/,
      /^(?<place>[\w$.[\]()"']+) is (?:null|undefined)$/,
      /^Right side of assignment cannot be destructured$/,
    ],
  },
  {
    text: "nothing as an object",
    wordings: [
      /^Cannot convert undefined or null to object$/,
      /^can't convert (?:undefined|null) to object$/,
      /^Object\.\w+ requires that input parameter not be null or undefined$/,
      /^(?:null|undefined) is not an object \(evaluating 'Object\.\w+\(.*\)'\)$/s,
    ],
  },
  {
    text: "nullish access",
    wordings: [
      /^Cannot (?:read|set) propert(?:y|ies) (?:'(?<name>.*)' )?of (?:null|undefined)(?: \((?:reading|setting) '(?<own>.*)'\))?$/s,
      /^can't access property (?:"(?<name>.*)"|(?<own>[\w$.]+)), .+ is (?:null|undefined)$/s,
      /^(?:null|undefined) is not an object \(evaluating '(?<place>.*?)(?: = .*)?'\)$/s,
    ],
  },
  { text: "not defined", wordings: [/^(?<name>[\p{L}\p{N}_$]+) is not defined$/u, /^Can't find variable: (?<name>.+)$/] },
  {
    text: "used before its declaration",
    wordings: [/^Cannot access '.+' before initialization\.?$/, /^can't access lexical declaration '.+' before initialization$/, /^Cannot access uninitialized variable\.$/],
  },
  {
    text: "operand of instanceof that is no class",
    wordings: [/^Right-hand side of 'instanceof' is not (?:an object|callable)$/, /^invalid 'instanceof' operand /, /^Right hand side of instanceof is not an object$/, /^.+ is not a function\. \(evaluating '.+ instanceof .+'\)$/s],
  },
  { text: "not a function", wordings: [/^(?<place>.+?) is not a function(?:\. \(In '.*)?$/s] },
  { text: "not a constructor", wordings: [/^.+ is not a constructor \(evaluating 'new (?<place>[^(]+).*'\)$/s, /^(?<place>.+) is not a constructor$/s] },
  { text: "class called without new", wordings: [/^Class constructor .+ cannot be invoked without 'new'$/, /^class constructors must be invoked with 'new'$/, /^Cannot call a class constructor .*without \|new\|$/] },
  {
    text: "super not called",
    wordings: [/^Must call super constructor in derived class before /, /^must call super constructor before using 'this' in derived class constructor$/, /^'super\(\)' must be called in derived constructor before /],
  },
  {
    text: "assignment to what is read-only",
    wordings: [
      /^Assignment to constant variable\.$/,
      /^invalid assignment to const /,
      /^Attempted to assign to readonly property\.$/,
      /^Cannot assign to read only property '/,
      /^".*" is read-only$/s,
      /^setting getter-only property "/,
      /^Cannot set property .+ of .+ which has only a getter$/s,
    ],
  },
  { text: "property added to what is not extensible", wordings: [/^Cannot add property .+, object is not extensible$/s, /^can't define property ".*": Object is not extensible$/s, /^Attempting to define property on object that is not extensible\.$/] },
  { text: "property that cannot be deleted", wordings: [/^Cannot delete property '.*' of /s, /^property ".*" is non-configurable and can't be deleted$/s, /^Unable to delete property\.$/] },
  { text: "property that cannot be redefined", wordings: [/^Cannot redefine property: /, /^can't redefine non-configurable property "/, /^Attempting to change .+ of an? (?:unconfigurable|readonly) property\.$/] },
  { text: "private member of another class", wordings: [/^Cannot (?:read|write) private member #.+ (?:from|to) an object whose class did not declare it$/, /^can't (?:access|set) private field or method: object is not the right class$/, /^Cannot access invalid private field/] },
  { text: "method called on another object", wordings: [/^Method .+ called on incompatible receiver /, /^.+ called on incompatible \w+$/, /^\w+ operation called on non-\w+ object$/, /^Illegal invocation$/, /^'\w+' called on an object that does not implement interface \w+\.$/] },
  { text: "endless recursion", wordings: [/^Maximum call stack size exceeded\.?$/, /^too much recursion$/] },
  { text: "text too long", wordings: [/^Invalid string length$/, /^allocation size overflow$/, /^repeat count must be less than infinity and not overflow maximum string size$/, /^Out of memory$/] },
  { text: "array too long", wordings: [/^Invalid array length$/i, /^Array (?:length|size) (?:must be|is not) a .*positive integer/] },
  { text: "invalid number of repetitions", wordings: [/^Invalid count value: /, /^repeat count must be non-negative$/, /^String\.prototype\.repeat argument must be /] },
  { text: "invalid number of digits", wordings: [/^to(?:Fixed|Precision|Exponential)\(\) .*argument must be between /, /^precision .+ out of range$/] },
  { text: "invalid radix", wordings: [/^toString\(\) radix argument must be between /, /^radix must be an integer at least /] },
  {
    text: "invalid JSON",
    wordings: [/^Unexpected token .+ in JSON at position /s, /^.+ is not valid JSON$/s, /^Unexpected end of JSON input$/, /^.+ (?:in|after) JSON at position \d+/s, /^.+ after (?:property value|array element) in JSON at position /, /^JSON\.parse: /, /^JSON Parse error: /],
  },
  { text: "cyclic JSON", wordings: [/^Converting circular structure to JSON/, /^cyclic object value$/, /^JSON\.stringify cannot serialize cyclic structures\.$/] },
  { text: "BigInt in JSON", wordings: [/^Do not know how to serialize a BigInt$/, /^BigInt value can't be serialized in JSON$/, /^JSON\.stringify cannot serialize BigInt\.$/] },
  { text: "BigInt and a number", wordings: [/^Cannot mix BigInt and other types/, /^can't convert BigInt to number$/, /^Invalid mix of BigInt and other type/] },
  { text: "fraction as a BigInt", wordings: [/^The number .+ cannot be converted to a BigInt because it is not an integer$/, /^.+ can't be converted to BigInt because it isn't an integer$/, /^Not an integer$/] },
  { text: "symbol as a text", wordings: [/^Cannot convert a Symbol value to a string$/, /^can't convert symbol to string$/, /^Cannot convert a symbol to a string$/] },
  { text: "object that is no text", wordings: [/^Cannot convert object to primitive value$/, /^can't convert .+ to (?:string|number|primitive type)$/, /^No default value$/] },
  { text: "operand of in that is no object", wordings: [/^cannot use 'in' operator to search for /i, /^right-hand side of 'in' should be an object, got /, /^.+ is not an Object\. \(evaluating '.* in .*'\)$/s] },
  { text: "invalid date", wordings: [/^Invalid time value$/, /^invalid date$/i] },
  { text: "invalid time zone", wordings: [/^Invalid time zone specified: /, /^invalid time zone: /] },
  { text: "invalid language", wordings: [/^invalid language tag: /i] },
  { text: "malformed URI", wordings: [/^URI malformed$/, /^malformed URI sequence$/, /^URI error$/, /^String contained an illegal UTF-16 sequence\.$/] },
  { text: "reduce of nothing", wordings: [/^reduce of empty array with no initial value$/i] },
  { text: "generator that runs already", wordings: [/^Generator is already running$/, /^already executing generator$/, /^Generator is executing$/] },
  { text: "invalid regular expression", wordings: [/^Invalid regular expression(?:: |$)/, /^unterminated (?:parenthetical|character class)$/, /^nothing to repeat$/, /^Invalid flags supplied to RegExp constructor/, /^invalid regular expression flag / ] },
  { text: "invalid code point", wordings: [/^Invalid code point /, /^.+ is not a valid code point$/, /^Arguments contain a value that is out of range of code points$/] },
  { text: "invalid normal form", wordings: [/^The normalization form should be one of /, /^form must be one of 'NFC'/, /^argument does not match any normalization form$/] },
  { text: "cyclic prototype", wordings: [/^cyclic __proto__ value$/i, /^can't set prototype: it would cause a prototype chain cycle$/] },
  { text: "prototype that is no object", wordings: [/^Object prototype may only be an Object or null/, /^.+ is not an object or null$/] },
  {
    text: "script that cannot be read",
    type: "SyntaxError",
    wordings: [/^Unexpected (?:token|identifier|end of (?:input|script)|string|number|keyword|EOF)\b/, /^Invalid or unexpected token$/, /^expected .+, got .+$/, /^unexpected token: /, /^missing .+ (?:after|before|in) /, /^illegal character U\+/, /^'' literal not terminated/],
  },
  {
    text: "import failed",
    wordings: [/^Failed to fetch dynamically imported module: /, /^error loading dynamically imported module/, /^Importing a module script failed\.$/],
  },
  {
    text: "fetch failed",
    wordings: [/^Failed to fetch(?: \(.*\))?$/, /^NetworkError when attempting to fetch resource\.$/, /^Load failed(?: \(.*\))?$/, /^Network request failed$/, /^fetch failed$/, /^The network connection was lost\.$/, /^The Internet connection appears to be offline\.$/],
  },
  { text: "every promise rejected", type: "AggregateError", wordings: [/^All promises were rejected$/, /^No Promise in Promise\.any was resolved$/, /^$/] },
  { text: "aborted", wordings: [/^The user aborted a request\.$/, /^signal is aborted without reason$/, /^Th(?:e|is) operation was aborted\.?\s*$/, /^Fetch is aborted$/, /^BodyStreamBuffer was aborted$/] },
  { text: "timed out", wordings: [/^signal timed out$/, /^The operation timed out\.?\s*$/, /^The operation was aborted due to timeout$/] },
  { text: "invalid selector", wordings: [/^Failed to execute '\w+' on '\w+': '.*' is not a valid selector\.$/s, /^\w+\.\w+: '.*' is not a valid selector$/s, /^'.*' is not a valid selector\.?$/s] },
  {
    text: "node not found",
    wordings: [/^Failed to execute '\w+' on 'Node': The node .+ is not a child of this node\.$/, /^Node\.\w+: .+ is not a child of this node$/, /^The object can not be found here\.$/],
  },
  { text: "storage is full", wordings: [/^Failed to execute 'setItem' on 'Storage': Setting the value of '.*' exceeded the quota\.$/s, /^The quota has been exceeded\.$/] },
  { text: "invalid URL", wordings: [/^Failed to construct 'URL': /, /^Invalid URL$/, /^URL constructor: /, /^".*" cannot be parsed as a URL/s] },
  { text: "value that cannot be cloned", wordings: [/^Failed to execute '\w+' on '\w+': .+ could not be cloned\.$/s, /^\w+ object could not be cloned\.$/, /^The object can not be cloned\.$/] },
  { text: "access to a frame of another origin", wordings: [/^(?:.{0,80}: )?Blocked a frame with origin /, /^Permission denied to access property ".*" on cross-origin object$/] },
  // What remains of calls of the browser's own objects is told by what was called.
  { text: "failed call", wordings: [/^Failed to execute '(?<call>\w+)' on '(?<object>\w+)': /, new RegExp(`^(?<object>${BROWSER_OBJECTS})\\.(?<call>\\w+): `)] },
  { text: "failed construction", wordings: [/^Failed to construct '(?<name>\w+)': /, new RegExp(`^(?<name>${BROWSER_OBJECTS}) constructor: `)] },
];

/** What `window.onerror` and unhandled rejections put before a message. */
const REPORTED = /^(?:Uncaught |uncaught exception: )(?:\(in promise\) )?/;
/** What stands before an engine's own words: the type, and of `response.json()` what was called. */
const PREFIX = /^(?:[A-Z][\w$]*(?:Error|Exception): )?(?:Failed to execute 'json' on '\w+': )?/;
/** Longer ones are no engine's own; it bounds what searching one can take. */
const LONGEST = 500;

/** The message itself, without what browsers put before it when nobody caught the error. */
export function ownMessage(type: string, message: string): string {
  const own = message.replace(REPORTED, "");
  return own.length < message.length && own.startsWith(`${type}: `) ? own.slice(type.length + 2) : own;
}

/**
 * An engine's own message as one text for all engines, such as `nullish access of total`. Null when
 * it is no engine's, as far as the table knows.
 */
export function neutralMessage(type: string, message: string): string | null {
  if (message.length > LONGEST) return null;
  return (describeTyped.get(type) ?? describeOther)(message) || null;
}

const TYPES = [...new Set(FAILURES.flatMap(({ type }) => type ?? []))];
const describeTyped = new Map(TYPES.map((type) => [type, remember(1_000, (message) => describeMessage(message, type))]));
const describeOther = remember(5_000, (message) => describeMessage(message, ""));

function describeMessage(message: string, type: string): string {
  const text = message.replace(PREFIX, "");
  for (const failure of FAILURES) {
    if (failure.type !== undefined && failure.type !== type) continue;
    for (const wording of failure.wordings) {
      const match = wording.exec(text);
      if (match !== null) return describeFailure(failure, match.groups ?? {});
    }
  }
  return "";
}

function describeFailure({ text }: Failure, { name, own, place, object, call }: Record<string, string | undefined>): string {
  const about = call === undefined ? (name ?? own ?? lastMember(place)) : `${object}.${call}`;
  return about === undefined ? text : `${text} of ${about}`;
}

/** `x` of `a.b.x` and `a["x"]`; undefined for what is no member, and for a name as short as minifiers make them. */
function lastMember(place: string | undefined): string | undefined {
  const member = /(?:\.(?<plain>#?[\p{L}\p{N}_$]+)|\["(?<double>[^"]*)"\]|\['(?<single>[^']*)'\]|\[(?<index>\d+)\])$/u.exec(place ?? "")?.groups;
  if (member) return member["plain"] ?? member["double"] ?? member["single"] ?? member["index"];
  const isName = place !== undefined && place.length > 2 && place !== "undefined" && place !== "null" && /^[\p{L}\p{N}_$]+$/u.test(place);
  return isName ? place : undefined;
}

/** SpiderMonkey has a type of its own for what the others call a RangeError. */
export function neutralType(type: string): string {
  return type === "InternalError" ? "RangeError" : type;
}
