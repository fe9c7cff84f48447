package command

import "os/user"

// Author is who runs this, for those who list the holds.
func Author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
