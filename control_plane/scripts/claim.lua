-- Take the runs whose look-at time has come, pushed 15 s ahead so that other workers leave them be
-- and a worker that dies while looking loses nothing.
-- KEYS[1]  cp:wf:index    (the derived names of the prelude are not used)
-- ARGV[1]  {limit}
-- Reply    {runs, next look-at time (ms) or "", now}

local PUSH = 15000
local runs = redis.call('ZRANGE', META, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, REQ.limit)
for _, run in ipairs(runs) do redis.call('ZADD', META, NOW + PUSH, run) end
local head = redis.call('ZRANGE', META, 0, 0, 'WITHSCORES')
return { runs, head[2] or '', integer(NOW) }
