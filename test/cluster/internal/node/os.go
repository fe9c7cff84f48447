package node

import (
	"os"
	"strings"

	containertest "k8s.io/kubernetes/pkg/kubelet/container/testing"
)

// nodeOS lets the kubelet use the node's directory, and keeps it from touching the real
// machine's /var/log. Upstream's fake does nothing either, but it records every path that it is
// asked to remove, without a lock and forever.
type nodeOS struct {
	containertest.FakeOS
	directory string
}

// owns reports whether a path is below the node's directory.
func (o *nodeOS) owns(path string) bool { return strings.HasPrefix(path, o.directory+"/") }

// MkdirAll creates directories, such as those for the logs of containers.
func (o *nodeOS) MkdirAll(path string, mode os.FileMode) error {
	if !o.owns(path) {
		return nil
	}
	return os.MkdirAll(path, mode)
}

// ReadDir lists a directory.
func (o *nodeOS) ReadDir(path string) ([]os.DirEntry, error) {
	if !o.owns(path) {
		return nil, nil
	}
	return os.ReadDir(path)
}

// Remove does nothing: the kubelet only removes links with it, which are never created.
func (*nodeOS) Remove(string) error { return nil }

// RemoveAll removes a directory.
func (o *nodeOS) RemoveAll(path string) error {
	if !o.owns(path) {
		return nil
	}
	return os.RemoveAll(path)
}

// Create does nothing.
func (*nodeOS) Create(string) (*os.File, error) { return nil, nil }
