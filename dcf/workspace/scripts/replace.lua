-- Put a document in the place of the one its writer read, if that is still there.
-- KEYS[1]  {prefix}…            JSON    the document
-- KEYS[2]  cp:doc:call:{…}:id   string  lives for a while: this call was made (a repetition of a call
--          whose answer was lost must not be taken for a lost race)
-- ARGV[1]  SHA-1 of the text that was read, or "" when there was no document
-- ARGV[2]  the new document, JSON
-- ARGV[3]  how long a call is remembered, ms
-- Reply    1 written (now or by the first try of this call), 0 the document is another by now

if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local text = redis.call('JSON.GET', KEYS[1], '.')
local digest = text and redis.sha1hex(text) or ''
if digest ~= ARGV[1] then return 0 end
redis.call('JSON.SET', KEYS[1], '.', ARGV[2])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return 1
