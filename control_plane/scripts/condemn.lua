-- Let a run go of which a key is broken: a document that says `removing` takes its place, for `gc` and for a
-- sweep. Nothing of the broken one is believed; who works on the run hears that it is cancelled.
-- ARGV[1]  {run, pool, kind, digest, paths: [path], blobs: [sha256], no_paths?, no_blobs?}
--          kind:   TYPE of the run's key; digest: SHA1 of its JSON, "" for another type: what the
--                  caller found, of a run of which this or another key is broken
--          paths, blobs: those that have keys by now, whether the sets of them know it or not
--          no_paths, no_blobs: that the set itself cannot be read
-- ARGV[2]  the document that takes its place
-- Reply    {"ok", born}: by which `gc` knows it | {"moved"}: something else stands there by now
--          | {"bad_document", message}

local kind = redis.call('TYPE', META).ok
local digest = kind == 'ReJSON-RL' and redis.sha1hex(redis.call('JSON.GET', META)) or ''
if kind ~= REQ.kind or digest ~= REQ.digest then return reply('moved') end
-- JSON is not written over a key of another type.
redis.call('DEL', STAGE)
local bad = put(STAGE, '$', ARGV[2])
if bad then return refuse(bad) end
redis.call('RENAME', STAGE, META)
-- By these two goes who removes it.
local function mend(key, unreadable, found)
  if unreadable or redis.call('TYPE', key).ok ~= 'set' then redis.call('DEL', key) end
  for _, name in ipairs(found) do redis.call('SADD', key, name) end
end
mend(PATHS, REQ.no_paths, REQ.paths)
mend(RUN .. 'blobs', REQ.no_blobs, REQ.blobs)
-- A run that gets this id from now on is born later: it is not the one that is to be removed.
local born = integer(NOW - 1)
local run = { status = 'cancelled', protocol = 1, digest = '', pool = REQ.pool, born = born,
  said = {}, removing = true }
redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.created_at', integer(NOW))
enlist(run)
look_at(NOW + REHINT_MAX)
return reply('ok', born)
