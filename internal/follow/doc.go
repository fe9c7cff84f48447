// Package follow reads one ConfigMap or one Secret and follows it by a watch. It
// says when the object is not there, and why it cannot be read, from the first
// second on.
//
// It must not know what the object holds, nor write it.
package follow
