// Package machine tells what the node is that this process runs on, and how much
// of it the process may use, from what Linux shows in /proc and /sys.
//
// It must not know what the node is called, nor what is measured.
package machine
