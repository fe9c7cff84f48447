package lifecycle

import (
	"fmt"
	"os"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/controlplane"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/monitoring"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/pki"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// writeCredentials creates all keys, certificates and kubeconfigs of a cluster and writes
// them, except for the user's kubeconfig. It returns that kubeconfig, because the file
// must appear only when the cluster is ready.
func writeCredentials(cluster *state.Cluster) (kubeconfig []byte, err error) {
	w := &credentialWriter{cluster: cluster}
	ca := w.ca(state.CA)
	etcdCA := w.ca(state.EtcdCA)
	frontProxyCA := w.ca(state.FrontProxyCA)
	signingKey, err := pki.NewSigningKey()
	w.keep(err)
	if w.err != nil {
		return nil, w.err
	}

	// The controllers that sign user certificates need this key. The other authorities sign
	// nothing more, so their keys are not written.
	w.write(cluster.Key(state.CA), ca.Key)
	w.write(cluster.Key(state.ServiceAccount), signingKey)

	local := []string{"127.0.0.1", "localhost"}
	w.server(etcdCA, state.EtcdServer, true, local...)
	w.server(ca, state.ControllerManager, false, local...)
	w.server(ca, state.Scheduler, false, local...)
	w.server(ca, state.APIServer, false, append(local, controlplane.ServiceIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")...)

	etcdClient, err := etcdCA.Client("kube-apiserver")
	w.keep(err)
	w.pair(state.EtcdClient, etcdClient)
	kubeletClient, err := ca.Client("kube-apiserver", "system:masters")
	w.keep(err)
	w.pair(state.KubeletClient, kubeletClient)

	frontProxyClient, err := frontProxyCA.Client(controlplane.FrontProxyUser)
	w.keep(err)
	w.pair(state.FrontProxyClient, frontProxyClient)
	if cluster.MetricsServer != "" {
		w.server(ca, state.MetricsServer, false, append(local, monitoring.MetricsServerHost)...)
		w.write(cluster.Kubeconfig(state.MetricsServer), w.kubeconfig(ca, state.MetricsServer, "system:masters"))
	}

	w.write(cluster.Kubeconfig(state.ControllerManager), w.kubeconfig(ca, "system:kube-controller-manager"))
	w.write(cluster.Kubeconfig(state.Scheduler), w.kubeconfig(ca, "system:kube-scheduler"))
	for _, node := range cluster.Nodes {
		w.server(ca, state.NodeComponent(node.Name), false, local...)
		w.write(cluster.Kubeconfig(state.NodeComponent(node.Name)),
			w.kubeconfig(ca, "system:node:"+node.Name, "system:nodes"))
	}
	return w.kubeconfig(ca, "testcluster-admin", "system:masters"), w.err
}

// credentialWriter keeps the first error and does nothing after it.
type credentialWriter struct {
	cluster *state.Cluster
	err     error
}

func (w *credentialWriter) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *credentialWriter) ca(name string) *pki.CA {
	ca, err := pki.NewCA("testcluster-" + name)
	w.keep(err)
	if err == nil {
		w.write(w.cluster.Cert(name), ca.Cert)
	}
	return ca
}

func (w *credentialWriter) server(ca *pki.CA, name string, peer bool, hosts ...string) {
	pair, err := ca.Server(name, peer, hosts...)
	w.keep(err)
	w.pair(name, pair)
}

func (w *credentialWriter) pair(name string, pair pki.Pair) {
	w.write(w.cluster.Cert(name), pair.Cert)
	w.write(w.cluster.Key(name), pair.Key)
}

func (w *credentialWriter) kubeconfig(ca *pki.CA, user string, groups ...string) []byte {
	credentials, err := ca.Client(user, groups...)
	w.keep(err)
	content, err := pki.Kubeconfig(w.cluster.Server(), "testcluster", user, ca.Cert, credentials)
	w.keep(err)
	return content
}

func (w *credentialWriter) write(path string, content []byte) {
	if w.err != nil {
		return
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		w.err = fmt.Errorf("write credentials: %w", err)
	}
}
