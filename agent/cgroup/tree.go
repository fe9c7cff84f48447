package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// DefaultRoot is where cgroup v2 is mounted.
const DefaultRoot = "/sys/fs/cgroup"

// Container is the control group of a container.
type Container struct {
	PodUID, ID string
	// Dir is its directory.
	Dir string
}

// Tree is the control groups of a node.
type Tree struct {
	root string
	// pods are the directories with the pods of kubelets.
	pods []string
	// sandboxes are the groups that are known to be the sandboxes of pods, by the pod's directory.
	sandboxes map[string]string
	// buffer holds the content of one file, since there are thousands per sample.
	buffer []byte
}

// depth is how far below the root the pods of a kubelet are searched for. The kubelet's flag
// --cgroup-root can put them below other groups.
const depth = 4

// Open returns the control groups below root, where cgroup v2 is mounted. The error says what is
// wrong with the node, or with the mount.
func Open(root string) (*Tree, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read control groups: %w", err)
		}
		if _, v1 := os.Stat(filepath.Join(root, "memory")); v1 == nil {
			return nil, fmt.Errorf("%s has cgroup v1, which cannot be reported: it has no pressure and no peaks of containers; "+
				"let this node start with cgroup v2 (systemd.unified_cgroup_hierarchy=1), or collect its usage from another source", root)
		}
		return nil, fmt.Errorf("%s is no cgroup v2 file system: in a container, mount the node's %s there", root, DefaultRoot)
	}
	t := &Tree{root: root, buffer: make([]byte, 16<<10)}
	return t, t.find()
}

// find finds the pods of kubelets.
func (t *Tree) find() error {
	t.pods = nil
	if err := t.search(t.root, depth); err != nil {
		return fmt.Errorf("find the control groups of pods: %w", err)
	}
	if len(t.pods) == 0 {
		return fmt.Errorf("no group kubepods or kubepods.slice in %s: check that a kubelet runs on this node, "+
			"that it uses control groups (cgroupsPerQOS), and that the whole hierarchy of the node is mounted there", t.root)
	}
	return nil
}

func (t *Tree) search(dir string, levels int) error {
	groups, err := t.children(dir)
	if err != nil {
		return err
	}
	for _, g := range groups {
		switch {
		case isKubepods(g.name):
			t.pods = append(t.pods, path.Join(dir, g.name))
		case levels == 0 || isService(g.name):
		default:
			if err := t.search(path.Join(dir, g.name), levels-1); err != nil && !gone(err) {
				return err
			}
		}
	}
	return nil
}

// isService reports whether a directory cannot have the pods of this node's kubelet in it. A
// container may have those of a kubelet that runs in it.
func isService(name string) bool {
	_, container := containerID(name)
	return container || name == "system.slice" || name == "user.slice" || strings.HasSuffix(name, ".service") || strings.HasSuffix(name, ".scope")
}

// Containers returns the containers of pods, but neither the sandboxes of pods nor static pods.
func (t *Tree) Containers() ([]Container, error) {
	found, err := t.containers()
	if gone(err) || len(t.pods) == 0 { // The kubelet may have created its groups again.
		if err = t.find(); err == nil {
			found, err = t.containers()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the control groups of containers: %w", err)
	}
	return found, nil
}

func (t *Tree) containers() ([]Container, error) {
	s := scan{tree: t, sandboxes: map[string]string{}}
	for _, dir := range t.pods {
		groups, err := t.children(dir)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			if err := s.visit(path.Join(dir, g.name), g.name); err != nil && !gone(err) {
				return nil, err
			}
		}
	}
	t.sandboxes = s.sandboxes
	return s.found, nil
}

// scan is one search for containers.
type scan struct {
	tree      *Tree
	found     []Container
	sandboxes map[string]string
}

// visit finds the containers in the directory of a pod, or of a QoS class.
func (s *scan) visit(dir, name string) error {
	uid, pod := podUID(name)
	if !pod && !isClass(name) {
		return nil
	}
	groups, err := s.tree.children(dir)
	if err != nil {
		return err
	}
	if pod {
		s.pod(uid, dir, groups)
		return nil
	}
	for _, g := range groups {
		if _, pod := podUID(g.name); pod {
			if err := s.visit(path.Join(dir, g.name), g.name); err != nil && !gone(err) {
				return err
			}
		}
	}
	return nil
}

func (s *scan) pod(uid, dir string, groups []group) {
	sandbox := s.tree.sandbox(dir, groups)
	if sandbox != "" {
		s.sandboxes[dir] = sandbox
	}
	for _, g := range groups {
		if id, ok := containerID(g.name); ok && g.name != sandbox {
			s.found = append(s.found, Container{PodUID: uid, ID: id, Dir: path.Join(dir, g.name)})
		}
	}
}

// gone reports whether err means that a group was removed, before it was opened or after.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) }
