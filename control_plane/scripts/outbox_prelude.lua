-- What waits for the graph. Runs are hints, since their documents are the truth: where there are too
-- many, the oldest make room and are counted, and a sweep of cp:wf:done finds them again. Records
-- stand nowhere else: where there are too many, the next is refused.
-- cp:{outbox}:runs     stream  kind ("run"), id
-- cp:{outbox}:records  stream  kind, id, data
-- cp:{outbox}:counts   hash    dropped, dropped_at (ms)

local function tell_run(stream, counts, run, limit)
  local over = redis.call('XLEN', stream) + 1 - limit
  if over > 0 then
    local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', over)
    for i = 1, #oldest do redis.call('XDEL', stream, oldest[i][1]) end
    redis.call('HINCRBY', counts, 'dropped', #oldest)
    redis.call('HSET', counts, 'dropped_at', integer(NOW))
  end
  redis.call('XADD', stream, '*', 'kind', 'run', 'id', run)
end
