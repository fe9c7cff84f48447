package node

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// serverTLS admits only clients with a certificate from the cluster's authority: the API
// server.
func serverTLS(cluster *state.Cluster, node state.Node) (*tls.Config, error) {
	name := state.NodeComponent(node.Name)
	certificate, err := tls.LoadX509KeyPair(cluster.Cert(name), cluster.Key(name))
	if err != nil {
		return nil, fmt.Errorf("load the kubelet's serving certificate: %w", err)
	}
	content, err := os.ReadFile(cluster.Cert(state.CA))
	if err != nil {
		return nil, fmt.Errorf("load the cluster's authority: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("read %s: no certificate found", cluster.Cert(state.CA))
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    authorities,
		MinVersion:   tls.VersionTLS12,
	}, nil
}
