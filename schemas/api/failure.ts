import { z } from "zod";

/** The body of every error answer (conventions §1), for the API description. */
export const FailureAnswer = z
  .object({
    error: z.string().meta({ description: "What is wrong, as a sentence.", example: "name is required." }),
    code: z.string().meta({ description: "One word for programs.", example: "INVALID_REQUEST" }),
    request_id: z.string().meta({ description: "The same as the X-Request-Id header; it finds the log line.", example: "req-4f9c1a" }),
    path: z.string().optional().meta({ description: "A JSON Pointer to the place in the request.", example: "/name" }),
    fix: z.string().optional().meta({ description: "What to do about it." }),
    issues: z.array(z.unknown()).optional().meta({ description: "Every fault of a design." }),
  })
  .meta({ id: "Failure" });
