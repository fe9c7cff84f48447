//go:build !unix

package client

import "io/fs"

// isMine reports true: on these systems, the directory of the socket is the user's.
func isMine(fs.FileInfo) bool { return true }
