package command_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// types is how errors describe the types.
const types = "one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, replicationcontroller, or a kind as written in a manifest, such as Rollout"

// Commands accept the names that they print for workloads.
func TestPrintedNamesAreArguments(t *testing.T) {
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController", "Rollout", "CloneSet", "Service", "Workflow"} {
		want := command.Object{Kind: kind, Name: "own"}
		printed := print.WorkloadName(want.Workload())
		for namespace, arg := range map[string]string{"": printed, "shop": "shop/" + printed} {
			want.Namespace = namespace
			if got, err := command.ParseObject(&cobra.Command{Use: "plan"}, []string{arg}); err != nil || got != want {
				t.Errorf("%s is %v, %v", arg, got, err)
			}
		}
	}
}

func TestParseObject(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want command.Object
		err  string
	}{
		{"no arguments", nil, command.Object{}, ""},
		{"the name of a pod", []string{"web-0"}, command.Object{Kind: "Pod", Name: "web-0"}, ""},
		{"a pod with its type", []string{"po/web-0"}, command.Object{Kind: "Pod", Name: "web-0"}, ""},
		{"a type and a name", []string{"deployment/web"}, command.Object{Kind: "Deployment", Name: "web"}, ""},
		{"a type and a name in two words", []string{"deploy", "web"}, command.Object{Kind: "Deployment", Name: "web"}, ""},
		{"a pod in two words", []string{"pods", "web-0"}, command.Object{Kind: "Pod", Name: "web-0"}, ""},
		{"a plural type", []string{"statefulsets/db"}, command.Object{Kind: "StatefulSet", Name: "db"}, ""},
		{"the form of kubectl get -o name", []string{"daemonset.apps/agent"}, command.Object{Kind: "DaemonSet", Name: "agent"}, ""},
		{"a kind instead of a type", []string{"StatefulSet", "db"}, command.Object{Kind: "StatefulSet", Name: "db"}, ""},
		{"a short type in upper case", []string{"CJ/nightly"}, command.Object{Kind: "CronJob", Name: "nightly"}, ""},
		{"a ReplicaSet", []string{"rs/web-1"}, command.Object{Kind: "ReplicaSet", Name: "web-1"}, ""},
		{"a Job", []string{"job/nightly-1"}, command.Object{Kind: "Job", Name: "nightly-1"}, ""},
		{"a third-party kind", []string{"Rollout/web"}, command.Object{Kind: "Rollout", Name: "web"}, ""},
		{"a ReplicationController", []string{"rc/web"}, command.Object{Kind: "ReplicationController", Name: "web"}, ""},
		{"a type with its group", []string{"cronjobs.batch/nightly"}, command.Object{Kind: "CronJob", Name: "nightly"}, ""},
		{"a type with its version and group", []string{"deployments.v1.apps", "web"}, command.Object{Kind: "Deployment", Name: "web"}, ""},
		{"a type with another group", []string{"deployments.example.com/web"}, command.Object{}, "type \"deployments.example.com\" names a group, but kind and name identify a workload, without a group: use Deployment; see \"pause --help\""},
		{"a pod with a group", []string{"pods.apps/web"}, command.Object{}, "type \"pods.apps\" names a group, but kind and name identify a workload, without a group: use Pod; see \"pause --help\""},
		{"a third-party kind with its group", []string{"Rollout.argoproj.io/web"}, command.Object{}, "type \"Rollout.argoproj.io\" names a group, but kind and name identify a workload, without a group: use Rollout; see \"pause --help\""},
		{"a third-party resource", []string{"rollouts.argoproj.io/web"}, command.Object{}, "unknown type \"rollouts.argoproj.io\": use " + types + "; see \"pause --help\""},
		{"an unknown type", []string{"service/web"}, command.Object{}, "unknown type \"service\": use " + types + "; see \"pause --help\""},
		{"a namespace and a pod", []string{"samples/db-0"}, command.Object{Kind: "Pod", Name: "db-0", Namespace: "samples"}, ""},
		{"a namespace, a type and a name", []string{"shop/deployment/web"}, command.Object{Kind: "Deployment", Name: "web", Namespace: "shop"}, ""},
		{"a namespace that is called like a type", []string{"jobs/web-0"}, command.Object{Kind: "Job", Name: "web-0"}, ""},
		{"too many parts", []string{"a/b/c/d"}, command.Object{}, "\"a/b/c/d\" is no name: name one POD, TYPE/NAME, NAMESPACE/POD or NAMESPACE/TYPE/NAME; see \"pause --help\""},
		{"a type without pods in a namespace", []string{"shop/svc/web"}, command.Object{}, "unknown type \"svc\": use " + types + "; see \"pause --help\""},
		{"two pods", []string{"a", "b"}, command.Object{}, "\"a\" and \"b\" are two pods: name one of them, or a workload, such as deployment/web; see \"pause --help\""},
		{"three pods", []string{"a", "b", "c"}, command.Object{}, "a b c are too many arguments: name one POD, TYPE/NAME or TYPE NAME; see \"pause --help\""},
		{"two workloads", []string{"deploy/a", "deploy/b"}, command.Object{}, "deploy/a deploy/b are too many arguments: name one POD, TYPE/NAME or TYPE NAME; see \"pause --help\""},
		{"an empty pod", []string{""}, command.Object{}, "the name of the pod in \"\" is empty: name one POD, TYPE/NAME or TYPE NAME; see \"pause --help\""},
		{"an empty name", []string{"deploy/"}, command.Object{}, "the name of the deploy in \"deploy/\" is empty: name one POD, TYPE/NAME or TYPE NAME; see \"pause --help\""},
		{"an empty name in two words", []string{"deploy", ""}, command.Object{}, "the name of the deploy in \"deploy \" is empty: name one POD, TYPE/NAME or TYPE NAME; see \"pause --help\""},
		{"an empty type", []string{"/web"}, command.Object{}, "unknown type \"\": use " + types + "; see \"pause --help\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := command.ParseObject(&cobra.Command{Use: "pause"}, tc.args)
			if err == nil && got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%q is %v, %v; want %v, %q", tc.args, got, err, tc.want, tc.err)
			}
		})
	}
}
