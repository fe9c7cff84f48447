package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const temporarySuffix = ".tmp"

// Names of the control plane's components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// nodePrefix begins the component name of a node.
const nodePrefix = "node-"

// NodeComponent is the component name of a node.
func NodeComponent(node string) string { return nodePrefix + node }

// Components lists the components in the order they are started in.
func (c *Cluster) Components() []string {
	names := []string{Etcd, APIServer, ControllerManager, Scheduler}
	for _, node := range c.Nodes {
		names = append(names, NodeComponent(node.Name))
	}
	return names
}

// NodeOf returns the node that a component name stands for.
func (c *Cluster) NodeOf(component string) (Node, bool) {
	if len(component) <= len(nodePrefix) || component[:len(nodePrefix)] != nodePrefix {
		return Node{}, false
	}
	return c.Node(component[len(nodePrefix):])
}

// PKI file names, without the extensions .crt and .key.
const (
	CA             = "ca"
	EtcdCA         = "etcd-ca"
	EtcdServer     = "etcd"
	EtcdClient     = "etcd-client"
	KubeletClient  = "kubelet-client"
	ServiceAccount = "service-account"
)

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.Dir}, elements...)...)
}

func (c *Cluster) descriptionFile() string { return c.path("cluster.json") }

// CommandLock is the lock file that commands which change the cluster hold.
func (c *Cluster) CommandLock() string { return c.path("testcluster.lock") }

// AdminKubeconfig is the path of the kubeconfig for users.
func (c *Cluster) AdminKubeconfig() string { return c.path("kubeconfig") }

// Kubeconfig is the path of a component's own kubeconfig.
func (c *Cluster) Kubeconfig(component string) string {
	return c.path("pki", component+".kubeconfig")
}

// Cert is the path of a certificate.
func (c *Cluster) Cert(name string) string { return c.path("pki", name+".crt") }

// Key is the path of a private key.
func (c *Cluster) Key(name string) string { return c.path("pki", name+".key") }

// PIDFile is the path of a component's pid file.
func (c *Cluster) PIDFile(component string) string { return c.path("run", component+".pid") }

// LogFile is the path of a component's log.
func (c *Cluster) LogFile(component string) string { return c.path("logs", component+".log") }

// AuditLog is the path of the API server's audit log, one JSON object per line.
func (c *Cluster) AuditLog() string { return c.path("logs", "audit.log") }

// EtcdDir is the directory of etcd's data.
func (c *Cluster) EtcdDir() string { return c.path("etcd") }

// NodeDir is the directory of a node's data.
func (c *Cluster) NodeDir(node string) string { return c.path("nodes", node) }

// directories are those of the cluster's directory that belong to it. They
// hold data whose names only the components know (data) or files known by name.
func (c *Cluster) directories() []string {
	return []string{c.path("run"), c.path("logs"), c.path("pki"), c.path("nodes"), c.path("etcd")}
}

// Create makes the directories of a new cluster and writes its description. It
// refuses to take over anything that exists already.
func (c *Cluster) Create() error {
	for _, path := range append(c.directories(), c.AdminKubeconfig(), c.descriptionFile()) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists but belongs to no cluster; choose another directory", path)
		}
	}
	// The description comes first: whatever follows is recognised as the
	// cluster's by it, even if this process is killed in between.
	if err := c.Save(); err != nil {
		return err
	}
	for _, directory := range c.directories() {
		if err := os.Mkdir(directory, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes the files of the cluster and its directory, unless that holds
// something else. All of its processes must have ended.
func (c *Cluster) Remove() error {
	if err := c.RemoveFiles(); err != nil {
		return err
	}
	return c.RemoveLock()
}

// RemoveLock deletes the command lock and the cluster's directory, unless that
// holds something else.
func (c *Cluster) RemoveLock() error {
	if err := os.Remove(c.CommandLock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeIfEmpty(c.Dir)
}

// RemoveFiles deletes the files of the cluster but for the command lock. The
// description goes last, so that a removal that was interrupted can be taken
// up again.
func (c *Cluster) RemoveFiles() error {
	for _, tree := range []string{c.EtcdDir(), c.path("nodes")} {
		if err := os.RemoveAll(tree); err != nil {
			return err
		}
	}
	for _, path := range c.files() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, directory := range []string{c.path("run"), c.path("logs"), c.path("pki")} {
		if err := removeIfEmpty(directory); err != nil {
			return err
		}
	}
	for _, path := range []string{c.descriptionFile() + temporarySuffix, c.descriptionFile()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// files lists what may lie in the directories whose files are known by name.
func (c *Cluster) files() []string {
	files := []string{c.AdminKubeconfig(), c.AuditLog()}
	for _, name := range c.Components() {
		files = append(files, c.PIDFile(name), c.LogFile(name), c.Kubeconfig(name))
	}
	for _, name := range slices.Concat([]string{CA, EtcdCA, EtcdClient, KubeletClient, ServiceAccount}, c.Components()) {
		files = append(files, c.Cert(name), c.Key(name))
	}
	return files
}

func removeIfEmpty(directory string) error {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(directory)
}
