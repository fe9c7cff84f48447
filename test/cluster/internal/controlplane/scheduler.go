package controlplane

import (
	"strconv"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// RunScheduler runs kube-scheduler until the process gets SIGTERM.
func RunScheduler(cluster *state.Cluster) error {
	command := app.NewSchedulerCommand()
	command.SetArgs(schedulerArguments(cluster))
	return command.Execute()
}

func schedulerArguments(cluster *state.Cluster) []string {
	kubeconfig := cluster.Kubeconfig(state.Scheduler)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		// Nobody calls it through the aggregation layer.
		"--authentication-skip-lookup=true",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(cluster.Ports.Scheduler),
		"--tls-cert-file=" + cluster.Cert(state.Scheduler),
		"--tls-private-key-file=" + cluster.Key(state.Scheduler),
		"--leader-elect=false",
		"--profiling=false",
		// The default of 50 requests a second would make tests wait.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}
