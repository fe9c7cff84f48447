package controlplane

import (
	"strconv"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// RunControllerManager runs kube-controller-manager until the process gets
// SIGTERM.
func RunControllerManager(cluster *state.Cluster) error {
	command := app.NewControllerManagerCommand()
	command.SetArgs(controllerManagerArguments(cluster))
	return command.Execute()
}

func controllerManagerArguments(cluster *state.Cluster) []string {
	kubeconfig := cluster.Kubeconfig(state.ControllerManager)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		// Nobody calls it through the aggregation layer.
		"--authentication-skip-lookup=true",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(cluster.Ports.ControllerManager),
		"--tls-cert-file=" + cluster.Cert(state.ControllerManager),
		"--tls-private-key-file=" + cluster.Key(state.ControllerManager),
		"--leader-elect=false",
		"--profiling=false",

		"--root-ca-file=" + cluster.Cert(state.CA),
		"--cluster-signing-cert-file=" + cluster.Cert(state.CA),
		"--cluster-signing-key-file=" + cluster.Key(state.CA),
		"--service-account-private-key-file=" + cluster.Key(state.ServiceAccount),
		"--use-service-account-credentials=true",

		// The nodes make up pod addresses.
		"--controllers=*,-node-ipam-controller",
		// The default of 20 requests a second would make tests wait.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}
