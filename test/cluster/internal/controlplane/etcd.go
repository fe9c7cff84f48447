package controlplane

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// RunEtcd runs etcd until the context ends.
func RunEtcd(ctx context.Context, cluster *state.Cluster) error {
	server, err := embed.StartEtcd(etcdConfig(cluster))
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-ctx.Done():
		// Stop hard: a graceful stop first waits for the watches of the API server, which
		// closes them only when it ends.
		server.Server.HardStop()
		return nil
	case <-server.Server.StopNotify():
		return fmt.Errorf("etcd stopped unexpectedly")
	case err := <-server.Err():
		return fmt.Errorf("serve etcd: %w", err)
	}
}

func etcdConfig(cluster *state.Cluster) *embed.Config {
	config := embed.NewConfig()
	config.Dir = cluster.EtcdDir()
	client := localURL(cluster.Ports.EtcdClient)
	peer := localURL(cluster.Ports.EtcdPeer)
	config.ListenClientUrls = []url.URL{client}
	config.AdvertiseClientUrls = []url.URL{client}
	config.ListenPeerUrls = []url.URL{peer}
	config.AdvertisePeerUrls = []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	// etcd has its own certificate authority. A certificate that the cluster's authority
	// signs, such as a node's, must not give access to the database.
	tls := transport.TLSInfo{
		CertFile:       cluster.Cert(state.EtcdServer),
		KeyFile:        cluster.Key(state.EtcdServer),
		TrustedCAFile:  cluster.Cert(state.EtcdCA),
		ClientCertAuth: true,
	}
	config.ClientTLSInfo = tls
	config.PeerTLSInfo = tls

	// The data need not survive the machine.
	config.UnsafeNoFsync = true
	// 150,000 pods take nearly the default of 2 GiB. Rewriting them before the old
	// revisions are compacted would exceed it.
	config.QuotaBackendBytes = 8 << 30
	config.LogLevel = "warn"
	// The default of etcd's own flag. The embedded default is 0, which logs a warning for
	// every request.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	return config
}

func localURL(port int) url.URL {
	return url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", port)}
}
