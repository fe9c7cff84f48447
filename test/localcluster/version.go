package localcluster

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
)

// versionVariable is the environment variable with the Kubernetes version of control planes,
// e.g. 1.33.13. Without it, they have the version that testcluster is built from. The programs
// are in bin/kubernetes-VERSION, which "make bin/kubernetes-oldest" builds.
const versionVariable = "WORKLOAD_RESIZER_TEST_KUBERNETES"

// controlPlane returns the directory of the control plane's programs, or "" for the programs
// that are built into testcluster.
func controlPlane() (string, error) {
	wanted := os.Getenv(versionVariable)
	if wanted == "" {
		return "", nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "kubernetes-"+wanted)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("find the control plane of %s=%s: %w; run \"make bin/kubernetes-oldest\"", versionVariable, wanted, err)
	}
	return dir, nil
}

// Version returns the API server's version, for differences between versions.
func (c *Cluster) Version() *version.Version { return c.version }

// askVersion asks the API server for its version.
func (c *Cluster) askVersion() error {
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return fmt.Errorf("get the version of the cluster in %s: %w", c.Dir, err)
	}
	info, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("get the version of the cluster in %s: %w", c.Dir, err)
	}
	if c.version, err = version.ParseSemantic(info.GitVersion); err != nil {
		return fmt.Errorf("parse the version of the cluster in %s: %w", c.Dir, err)
	}
	return nil
}
