-- Let a run go that is broken: a document that says `removing` takes the place of its own, for `gc` and
-- for a sweep. Nothing of the broken one is believed, so that whoever removes it looks for its keys by
-- their names (`condemned`); who works on the run hears that it is cancelled.
-- ARGV[1]  {run, pool, kinds: {name: type}, digest}   kinds: TYPE of the keys by which the caller found
--          that it is broken, by their names within the run, `meta` among them;
--          digest: SHA1 of its document's JSON, "" for another type or none
-- ARGV[2]  the document that takes its place
-- Reply    {"ok", born}: by which `gc` knows it | {"moved"}: something else stands there by now
--          | {"bad_document", message}

for name, kind in pairs(REQ.kinds) do
  if redis.call('TYPE', RUN .. name).ok ~= kind then return reply('moved') end
end
local digest = REQ.kinds.meta == 'ReJSON-RL' and redis.sha1hex(redis.call('JSON.GET', META)) or ''
if digest ~= REQ.digest then return reply('moved') end
-- JSON is not written over a key of another type.
redis.call('DEL', STAGE)
local bad = put(STAGE, '$', ARGV[2])
if bad then return refuse(bad) end
redis.call('RENAME', STAGE, META)
-- They may be of another type, or name what is not there: then nobody would come to the end of them.
redis.call('DEL', PATHS, RUN .. 'blobs')
-- A run that gets this id from now on is born later: it is not the one that is to be removed.
local born = integer(NOW - 1)
local run = { status = 'cancelled', protocol = 1, digest = '', pool = REQ.pool, born = born,
  said = {}, removing = true, condemned = true }
redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.created_at', integer(NOW))
enlist(run)
look_at(NOW + REHINT_MAX)
return reply('ok', born)
