// Package follow reads one ConfigMap or one Secret and watches it. From the start it
// reports if the object does not exist, or why it cannot be read.
//
// It must not know what the object contains, nor write it.
package follow
