-- Take a run out of the index of active runs, unless somebody put it there anew (in a cluster, where
-- the script that ends a run cannot do it).
-- KEYS[1]  cp:wf:index    (the derived names of the prelude are not used)
-- ARGV[1]  {run, at}      at: its look-at time as the caller knew it before it looked at the run
-- Reply    1 when it left, else 0

if tonumber(redis.call('ZSCORE', META, REQ.run) or '') ~= REQ.at then return 0 end
return redis.call('ZREM', META, REQ.run)
