package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

// ErrNone reports that a directory holds no cluster.
var ErrNone = errors.New("no cluster")

// Ports are the TCP ports of a cluster, all on 127.0.0.1.
type Ports struct {
	APIServer         int `json:"apiServer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	EtcdClient        int `json:"etcdClient"`
	EtcdPeer          int `json:"etcdPeer"`
	// These are 0 if the component does not run.
	MetricsServer int `json:"metricsServer,omitempty"`
	Prometheus    int `json:"prometheus,omitempty"`
}

// Cluster describes one cluster. It is written once, before any other part of the cluster
// exists, and does not change.
type Cluster struct {
	// Dir is the absolute path of the cluster's directory.
	Dir   string `json:"-"`
	Ports Ports  `json:"ports"`
	Nodes []Node `json:"nodes"`
	// NodeCPU is in whole cores, NodeMemory in bytes, both per node.
	NodeCPU    int   `json:"nodeCPU"`
	NodeMemory int64 `json:"nodeMemory"`
	// NodeLabel is the key of the label that holds a node's type.
	NodeLabel string `json:"nodeLabel"`
	// ControlPlane is the absolute path of the directory with the kube-apiserver,
	// kube-controller-manager and kube-scheduler programs to run; empty means the
	// built-in ones.
	ControlPlane string `json:"controlPlane,omitempty"`
	// AuditPolicy is the absolute path of the API server's audit policy; empty
	// means that nothing is audited.
	AuditPolicy string `json:"auditPolicy,omitempty"`
	// Work declares the work of containers that have no annotation. Clock is the clock of all
	// work.
	Work  []work.Rule `json:"work,omitempty"`
	Clock work.Clock  `json:"clock"`
	// MetricsServer and Prometheus are the absolute paths of these programs; empty means that
	// they do not run.
	MetricsServer string `json:"metricsServer,omitempty"`
	Prometheus    string `json:"prometheus,omitempty"`
	// Owner is the process that the cluster must not outlive, nil if there is none.
	Owner *Owner `json:"owner,omitempty"`
}

// Server returns the API server's URL.
func (c *Cluster) Server() string {
	return fmt.Sprintf("https://127.0.0.1:%d", c.Ports.APIServer)
}

// PrometheusURL returns the URL of Prometheus, or nothing if it does not run.
func (c *Cluster) PrometheusURL() string {
	if c.Prometheus == "" {
		return ""
	}
	return fmt.Sprintf("http://127.0.0.1:%d", c.Ports.Prometheus)
}

// Node returns the node with that name.
func (c *Cluster) Node(name string) (Node, bool) {
	for _, node := range c.Nodes {
		if node.Name == name {
			return node, true
		}
	}
	return Node{}, false
}

// AbsoluteDir returns the absolute path of a cluster's directory.
func AbsoluteDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no directory is given")
	}
	return filepath.Abs(dir)
}

// Load reads the description of the cluster in dir. If there is none, the error wraps
// ErrNone.
func Load(dir string) (*Cluster, error) {
	dir, err := AbsoluteDir(dir)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{Dir: dir}
	content, err := os.ReadFile(cluster.descriptionFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNone, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, cluster); err != nil {
		return nil, fmt.Errorf("read %s: %w", cluster.descriptionFile(), err)
	}
	return cluster, nil
}

// Save writes the description atomically: a crash leaves all of it or none.
func (c *Cluster) Save() error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode cluster description: %w", err)
	}
	temporary := c.descriptionFile() + temporarySuffix
	if err := os.WriteFile(temporary, append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, c.descriptionFile())
}
