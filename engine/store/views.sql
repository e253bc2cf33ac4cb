-- Views for people; the log of events is the truth. They are made anew whenever a campaign's
-- writer opens its store. For an older store at rest: sqlite3 STORE '.read engine/store/views.sql'
DROP VIEW IF EXISTS lineage;
DROP VIEW IF EXISTS individuals;
DROP VIEW IF EXISTS calls;
DROP VIEW IF EXISTS designs;
DROP VIEW IF EXISTS selections;
DROP VIEW IF EXISTS sources;
DROP VIEW IF EXISTS drafts;
DROP VIEW IF EXISTS evaluations;
DROP VIEW IF EXISTS profiles;
DROP VIEW IF EXISTS faults;
DROP VIEW IF EXISTS contests;

-- Every measurement; number 0 is a kernel's first. reason: in full, with a compiler's log. tuning:
-- 1 where nobody asked for it, and a device was idle.
CREATE VIEW evaluations AS SELECT
    seq, at,
    json_extract(body, '$.evaluation.kernel_id') AS kernel_id,
    json_extract(body, '$.number') AS number,
    json_extract(body, '$.evaluation.status') AS status,
    json_extract(body, '$.evaluation.reason') AS reason,
    json_extract(body, '$.evaluation.speedup') AS speedup,
    json_extract(body, '$.evaluation.ci95[0]') AS ci95_low,
    json_extract(body, '$.evaluation.ci95[1]') AS ci95_high,
    json_extract(body, '$.verified') AS verified,
    json_extract(body, '$.tuning') AS tuning,
    json_extract(body, '$.evaluation.times_us') AS times_us,
    json_extract(body, '$.evaluation.device') AS device
FROM events WHERE kind = 'evaluated';

-- Every candidate that an island asked for, the seed among them.
CREATE VIEW drafts AS SELECT
    seq, at, key, island, cycle,
    json_extract(body, '$.slot') AS slot,
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.origin') AS origin,
    json_extract(body, '$.parents') AS parents,
    json_extract(body, '$.experiment.technique') AS technique,
    json_extract(body, '$.report') AS report
FROM events WHERE kind = 'drafted';

-- The kernel files, one row a kernel.
CREATE VIEW sources AS SELECT
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.candidate.files."kernel.hip"') AS source
FROM events WHERE kind = 'drafted' GROUP BY 1 HAVING seq = min(seq);

-- Candidates with what became of them in their last measurement, one line each. reason: its first
-- line.
-- Grouping is for the planner's sake: only then it makes an index, and a join of thousands of rows
-- takes a moment and not minutes.
CREATE VIEW individuals AS
WITH d AS MATERIALIZED (SELECT * FROM drafts),
e AS MATERIALIZED (SELECT * FROM evaluations GROUP BY kernel_id HAVING number = max(number))
SELECT
    d.key, d.island, d.cycle, d.slot, d.kernel_id, d.origin, d.parents, d.technique, e.status,
    substr(e.reason, 1, instr(e.reason || char(10), char(10)) - 1) AS reason,
    e.speedup, e.ci95_low, e.ci95_high, e.times_us
FROM d JOIN e ON e.kernel_id = d.kernel_id;

-- Which Base and Reference a cycle chose, who decided, and why.
CREATE VIEW selections AS SELECT
    seq, at, island, cycle,
    json_extract(body, '$.selection.base_id') AS base_id,
    json_extract(body, '$.selection.reference_id') AS reference_id,
    json_extract(body, '$.selection.decided_by') AS decided_by,
    json_extract(body, '$.selection.rationale') AS rationale
FROM events WHERE kind = 'selected';

-- The experiments that a cycle's designer proposed; low and high: percent of the Base's speed.
CREATE VIEW designs AS SELECT
    events.seq, events.at, events.island, events.cycle,
    one.key AS place,
    json_extract(one.value, '$.technique') AS technique,
    json_extract(one.value, '$.performance[0]') AS low,
    json_extract(one.value, '$.performance[1]') AS high,
    json_extract(one.value, '$.innovation') AS innovation,
    json_extract(one.value, '$.description') AS description
FROM events, json_each(events.body, '$.design.experiments') AS one
WHERE events.kind = 'designed';

-- Calls of models. outcome: replied, in flight (or lost in a kill), or how the call failed
-- (unreachable: an attempt at an endpoint that was away, which counts as no call);
-- turned_away: why the operator could not use the question's answer. Tokens of a call without a
-- reply: what it counts for in the budget; while in flight, what it may cost at most.
CREATE VIEW calls AS SELECT
    r.seq, r.at, r.island, r.cycle,
    json_extract(r.body, '$.request') AS request,
    json_extract(r.body, '$.number') AS number,
    json_extract(r.body, '$.role') AS role,
    json_extract(r.body, '$.model') AS model,
    CASE e.kind WHEN 'call_replied' THEN 'replied'
        WHEN 'call_failed' THEN json_extract(e.body, '$.failure')
        ELSE 'in flight' END AS outcome,
    coalesce(json_extract(e.body, '$.reply.prompt_tokens'), 0)
        + coalesce(json_extract(e.body, '$.reply.completion_tokens'),
            json_extract(e.body, '$.tokens'), json_extract(r.body, '$.tokens')) AS tokens,
    json_extract(e.body, '$.reply.prompt_tokens') AS prompt_tokens,
    json_extract(e.body, '$.reply.completion_tokens') AS completion_tokens,
    json_extract(e.body, '$.reply.latency_s') AS latency_s,
    coalesce(json_extract(e.body, '$.reply.dollars'), json_extract(e.body, '$.dollars'),
        json_extract(r.body, '$.dollars')) AS dollars,
    json_extract(e.body, '$.reason') AS reason,
    (SELECT json_extract(t.body, '$.reason') FROM events t
        WHERE t.kind = 'turned_away' AND t.key = json_extract(r.body, '$.request')
    ) AS turned_away
FROM events r
LEFT JOIN events e ON e.kind IN ('call_replied', 'call_failed') AND e.key = r.key
WHERE r.kind = 'call_reserved';

-- How each kernel came about: step 0 is the kernel itself, the last one a seed; along the Bases.
CREATE VIEW lineage AS
WITH RECURSIVE
first AS MATERIALIZED (
    SELECT kernel_id, json_extract(parents, '$[0]') AS base_id, origin, technique, report
    FROM drafts GROUP BY kernel_id HAVING seq = min(seq)
),
measured AS MATERIALIZED (
    SELECT kernel_id, status, speedup FROM evaluations
    GROUP BY kernel_id HAVING number = max(number)
),
step AS (
    SELECT kernel_id, 0 AS step, kernel_id AS ancestor_id, base_id FROM first
    UNION ALL  -- ends: a Base is always drafted before what is made of it
    SELECT step.kernel_id, step.step + 1, first.kernel_id, first.base_id
    FROM step JOIN first ON first.kernel_id = step.base_id
)
SELECT step.kernel_id, step.step, step.ancestor_id, first.origin, first.technique,
    measured.status, measured.speedup, first.report
FROM step JOIN first ON first.kernel_id = step.ancestor_id
LEFT JOIN measured ON measured.kernel_id = step.ancestor_id
ORDER BY step.kernel_id, step.step DESC;

CREATE VIEW profiles AS SELECT
    seq, at,
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.advice') AS advice,
    json_extract(body, '$.reason') AS reason,
    json_extract(body, '$.device_s') AS device_s
FROM events WHERE kind = 'profiled';

CREATE VIEW faults AS SELECT
    seq, at, json_extract(body, '$.where') AS place, json_extract(body, '$.message') AS message
FROM events WHERE kind = 'fault';

-- What was measured again beside the best. outcome: won (it is the best from then on), not shown,
-- or wrong; why: contender (a new kernel), rematch or end (the top few). ratio: of the times, with
-- the 99% interval that decides.
CREATE VIEW contests AS SELECT
    seq, at,
    json_extract(body, '$.number') AS number,
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.rival_id') AS rival_id,
    json_extract(body, '$.why') AS why,
    json_extract(body, '$.outcome') AS outcome,
    json_extract(body, '$.ratio[0]') AS ratio,
    json_extract(body, '$.ratio[1]') AS ratio_low,
    json_extract(body, '$.ratio[2]') AS ratio_high,
    json_extract(body, '$.speedup') AS speedup,
    json_extract(body, '$.sittings') AS sittings,
    json_extract(body, '$.reason') AS reason
FROM events WHERE kind = 'contested';
