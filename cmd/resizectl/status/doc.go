// Package status is the command that shows how the server does.
//
// It must not know what the parts of the server are: it shows what the server says of
// itself.
package status
