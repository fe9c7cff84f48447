package command

import "os/user"

// Author returns the name of the user who runs the program, for the list of holds and the
// history.
func Author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
