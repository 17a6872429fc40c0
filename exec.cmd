@rem `exec` of the scripts in package.json, which a POSIX shell has itself
@%*
