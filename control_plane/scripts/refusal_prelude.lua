-- Shared by every script, and put before the other prelude: whether a server that did not take a text
-- refused it for its own reasons. What is not the text's fault is an error of the call: it is waited
-- for, or ends the worker. The signs are those of control_plane/refusals.py, which says their source.

-- Whether `message`, an error of redis.pcall, says nothing of the text that was to be written.
local function refuses(message)
  -- Made here, since most calls are refused nothing and would make it for nothing.
  local REFUSALS = { 'OOM ', 'READONLY ', 'MISCONF ', 'NOREPLICAS ', 'LOADING ', 'BUSY ',
    'MASTERDOWN ', 'CLUSTERDOWN ',
    'Script attempted to execute a command while the cluster is down',
    'Script attempted to execute a write command while the cluster is down',
    'Script attempted to access a slot not served', 'TRYAGAIN ', 'max number of clients reached',
    'UNBLOCKED ', 'NOAUTH ', 'WRONGPASS ', 'invalid password',
    'AUTH <password> called without any password', 'Client sent AUTH, but no password is set',
    'NOPERM ', 'ACL failure in script', 'unknown command', 'Unknown Redis command', 'WRONGTYPE ',
    'Existing key has wrong Redis type' }
  local said = string.gsub(message, '^ERR ', '')
  for _, sign in ipairs(REFUSALS) do
    if string.sub(said, 1, #sign) == sign then return true end
  end
  return false
end
