package main

import "os/user"

// author is who runs this, for those who list the holds.
func author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
