-- Exact numbers of sessions take as long as there are sessions. Of errors with very many, an estimate is shown: its state has a bounded size, and
-- like the exact one it does not change when it is inserted twice.
ALTER TABLE signature_slots ADD COLUMN IF NOT EXISTS estimated AggregateFunction(uniqCombined64(14), String);

CREATE MATERIALIZED VIEW IF NOT EXISTS signature_estimates_view TO signature_slots AS
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqExactState(session_id) AS sessions, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE type != 'vital' AND session_id != ''
GROUP BY slot, service_id, signature_id;

-- What came before the view, a month of all years at a time: a statement that reads everything could take too long. An exact state that is left out is empty.
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 1 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 2 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 3 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 4 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 5 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 6 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 7 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 8 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 9 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 10 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 11 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;
INSERT INTO signature_slots (slot, service_id, signature_id, estimated)
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqCombined64State(14)(session_id) AS estimated
FROM beacon_events WHERE toMonth(received_at) = 12 AND type != 'vital' AND session_id != '' GROUP BY slot, service_id, signature_id;

DROP VIEW IF EXISTS signature_slots_view;
