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

// Names of the control plane's components, and of those that measure the nodes.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	MetricsServer     = "metrics-server"
	Prometheus        = "prometheus"
)

// nodePrefix begins the component name of a node.
const nodePrefix = "node-"

// NodeComponent returns the component name of a node.
func NodeComponent(node string) string { return nodePrefix + node }

// Components lists the components in the order in which they start.
func (c *Cluster) Components() []string {
	names := []string{Etcd, APIServer, ControllerManager, Scheduler}
	for _, node := range c.Nodes {
		names = append(names, NodeComponent(node.Name))
	}
	if c.MetricsServer != "" {
		names = append(names, MetricsServer)
	}
	if c.Prometheus != "" {
		names = append(names, Prometheus)
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
	CA               = "ca"
	EtcdCA           = "etcd-ca"
	EtcdServer       = "etcd"
	EtcdClient       = "etcd-client"
	FrontProxyCA     = "front-proxy-ca"
	FrontProxyClient = "front-proxy-client"
	KubeletClient    = "kubelet-client"
	ServiceAccount   = "service-account"
)

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.Dir}, elements...)...)
}

func (c *Cluster) descriptionFile() string { return c.path("cluster.json") }

// CommandLock returns the path of the lock file that commands hold while they change the
// cluster.
func (c *Cluster) CommandLock() string { return c.path("testcluster.lock") }

// AdminKubeconfig returns the path of the kubeconfig for users.
func (c *Cluster) AdminKubeconfig() string { return c.path("kubeconfig") }

// Kubeconfig returns the path of a component's own kubeconfig.
func (c *Cluster) Kubeconfig(component string) string {
	return c.path("pki", component+".kubeconfig")
}

// Cert returns the path of a certificate.
func (c *Cluster) Cert(name string) string { return c.path("pki", name+".crt") }

// Key returns the path of a private key.
func (c *Cluster) Key(name string) string { return c.path("pki", name+".key") }

// PIDFile returns the path of a component's pid file.
func (c *Cluster) PIDFile(component string) string { return c.path("run", component+".pid") }

// LogFile returns the path of a component's log.
func (c *Cluster) LogFile(component string) string { return c.path("logs", component+".log") }

// AuditLog returns the path of the API server's audit log, one JSON object per line.
func (c *Cluster) AuditLog() string { return c.path("logs", "audit.log") }

// EtcdDir returns the directory of etcd's data.
func (c *Cluster) EtcdDir() string { return c.path("etcd") }

// NodeDir returns the directory of a node's data.
func (c *Cluster) NodeDir(node string) string { return c.path("nodes", node) }

// PrometheusDir returns the directory of Prometheus' data.
func (c *Cluster) PrometheusDir() string { return c.path("prometheus") }

// PrometheusConfig returns the path of Prometheus' configuration.
func (c *Cluster) PrometheusConfig() string {
	return filepath.Join(c.PrometheusDir(), "prometheus.yml")
}

// directories returns the subdirectories that belong to the cluster. Some hold data whose
// file names only the components know, the others hold files with known names.
func (c *Cluster) directories() []string {
	return []string{c.path("run"), c.path("logs"), c.path("pki"), c.path("nodes"), c.path("etcd"), c.PrometheusDir()}
}

// Create creates the directories of a new cluster and writes its description. It returns
// an error if any of them already exists.
func (c *Cluster) Create() error {
	for _, path := range append(c.directories(), c.AdminKubeconfig(), c.descriptionFile()) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists but does not belong to a cluster; choose another directory", path)
		}
	}
	// The description comes first: it marks everything that follows as the cluster's,
	// even if this process is killed in between.
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

// Remove deletes the files of the cluster, and its directory unless the directory holds
// other files. All of the cluster's processes must have ended.
func (c *Cluster) Remove() error {
	if err := c.RemoveFiles(); err != nil {
		return err
	}
	return c.RemoveLock()
}

// RemoveLock deletes the command lock, and the cluster's directory unless the directory
// holds other files.
func (c *Cluster) RemoveLock() error {
	if err := os.Remove(c.CommandLock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeIfEmpty(c.Dir)
}

// RemoveFiles deletes the files of the cluster except for the command lock. The
// description goes last, so that an interrupted removal can be resumed.
func (c *Cluster) RemoveFiles() error {
	for _, tree := range []string{c.EtcdDir(), c.path("nodes"), c.PrometheusDir()} {
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

// files lists the files that may exist in the directories with known file names.
func (c *Cluster) files() []string {
	files := []string{c.AdminKubeconfig(), c.AuditLog()}
	for _, name := range c.Components() {
		files = append(files, c.PIDFile(name), c.LogFile(name), c.Kubeconfig(name))
	}
	for _, name := range slices.Concat([]string{CA, EtcdCA, EtcdClient, FrontProxyCA, FrontProxyClient, KubeletClient, ServiceAccount}, c.Components()) {
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
