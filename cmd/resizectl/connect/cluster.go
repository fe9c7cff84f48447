package connect

import (
	"fmt"

	"k8s.io/client-go/rest"
)

// PreferCluster makes the server of the cluster the default, as in the kubectl plugin, for commands
// about a cluster.
func (c *Connection) PreferCluster() { c.preferCluster = true }

// Cluster returns the configuration of the cluster that the kubeconfig flags select, even if another
// flag selects a server elsewhere. Each request waits for at most --timeout.
func (c *Connection) Cluster() (*rest.Config, error) {
	if err := c.checkTimeout(); err != nil {
		return nil, err
	}
	config, err := c.kube.restConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = c.timeout
	return config, nil
}

// TooSlow returns the error for an API server that does not answer within --timeout.
func (c *Connection) TooSlow(host string) error {
	return fmt.Errorf("the API server %s does not answer within %s; allow more time with --timeout (0 for no limit), or select another cluster with --kubeconfig or --context", host, c.timeout)
}

// Service returns the name of the server's Service in the cluster.
func (c *Connection) Service() (namespace, name string, err error) {
	return nameOf(c.service, "--service")
}
