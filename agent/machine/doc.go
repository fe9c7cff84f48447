// Package machine describes the node that this process runs on, and how much of the node the
// process may use, as Linux shows it in /proc and /sys.
//
// It must not know the node's name or what is measured.
package machine
