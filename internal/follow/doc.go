// Package follow reads one ConfigMap and follows it by a watch. It says when
// the ConfigMap is not there, and why it cannot be read, from the first second
// on.
//
// It must not know what the ConfigMap holds, nor write it.
package follow
