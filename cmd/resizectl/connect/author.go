package connect

import "os/user"

// Author returns the name of the user who runs the program, for servers that do not authenticate
// their callers: for the list of holds and the history.
func Author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
