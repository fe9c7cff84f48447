package controlplane

import (
	"strconv"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// ServiceCIDR is the range of Service IP addresses. The API server has the first one.
const (
	ServiceCIDR = "10.96.0.0/16"
	ServiceIP   = "10.96.0.1"
)

// FrontProxyUser is the name of the API server when it calls aggregated APIs for others.
const FrontProxyUser = "front-proxy-client"

// RunAPIServer runs kube-apiserver until the process gets SIGTERM.
func RunAPIServer(cluster *state.Cluster) error {
	command := app.NewAPIServerCommand()
	command.SetArgs(apiServerArguments(cluster))
	return command.Execute()
}

func apiServerArguments(cluster *state.Cluster) []string {
	arguments := []string{
		"--bind-address=127.0.0.1",
		// Otherwise it looks for the address of a default route, which a machine without network lacks.
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(cluster.Ports.APIServer),
		"--tls-cert-file=" + cluster.Cert(state.APIServer),
		"--tls-private-key-file=" + cluster.Key(state.APIServer),
		"--client-ca-file=" + cluster.Cert(state.CA),

		"--etcd-servers=" + etcdEndpoint(cluster),
		"--etcd-cafile=" + cluster.Cert(state.EtcdCA),
		"--etcd-certfile=" + cluster.Cert(state.EtcdClient),
		"--etcd-keyfile=" + cluster.Key(state.EtcdClient),

		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + cluster.Key(state.ServiceAccount),
		"--service-account-signing-key-file=" + cluster.Key(state.ServiceAccount),

		"--kubelet-certificate-authority=" + cluster.Cert(state.CA),
		"--kubelet-client-certificate=" + cluster.Cert(state.KubeletClient),
		"--kubelet-client-key=" + cluster.Key(state.KubeletClient),

		// The identities of the callers of aggregated APIs, such as that of metrics-server.
		"--requestheader-client-ca-file=" + cluster.Cert(state.FrontProxyCA),
		"--requestheader-allowed-names=" + FrontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + cluster.Cert(state.FrontProxyClient),
		"--proxy-client-key-file=" + cluster.Key(state.FrontProxyClient),

		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + ServiceCIDR,
		// Endpoints must not be loopback addresses, and this API server has no others.
		"--endpoint-reconciler-type=none",
		"--profiling=false",
	}
	if cluster.AuditPolicy != "" {
		arguments = append(arguments, "--audit-policy-file="+cluster.AuditPolicy, "--audit-log-path="+cluster.AuditLog(),
			// In megabytes: large enough to keep the log in one file.
			"--audit-log-maxsize=100000")
	}
	return arguments
}

func etcdEndpoint(cluster *state.Cluster) string {
	endpoint := localURL(cluster.Ports.EtcdClient)
	return endpoint.String()
}
