//go:build !unix

package client

import "io/fs"

// maxSocketPath is how many bytes the path of a Unix socket may have.
const maxSocketPath = 107

// isMine reports true: on these systems, the directory of the socket is the user's.
func isMine(fs.FileInfo) bool { return true }
