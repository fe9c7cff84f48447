package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// types is what errors say of the types.
const types = "one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, replicationcontroller, or a kind as it is written in a manifest, such as Rollout"

func TestParseObject(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want object
		err  string
	}{
		{"nothing", nil, object{}, ""},
		{"a name alone is a pod's", []string{"web-0"}, object{"Pod", "web-0"}, ""},
		{"a pod with its type", []string{"po/web-0"}, object{"Pod", "web-0"}, ""},
		{"a type and a name", []string{"deployment/web"}, object{"Deployment", "web"}, ""},
		{"in two words", []string{"deploy", "web"}, object{"Deployment", "web"}, ""},
		{"a pod in two words", []string{"pods", "web-0"}, object{"Pod", "web-0"}, ""},
		{"in the plural", []string{"statefulsets/db"}, object{"StatefulSet", "db"}, ""},
		{"as kubectl get -o name prints it", []string{"daemonset.apps/agent"}, object{"DaemonSet", "agent"}, ""},
		{"in any case", []string{"StatefulSet", "db"}, object{"StatefulSet", "db"}, ""},
		{"a short name in upper case", []string{"CJ/nightly"}, object{"CronJob", "nightly"}, ""},
		{"a ReplicaSet", []string{"rs/web-1"}, object{"ReplicaSet", "web-1"}, ""},
		{"a Job", []string{"job/nightly-1"}, object{"Job", "nightly-1"}, ""},
		{"the kind of somebody else", []string{"Rollout/web"}, object{"Rollout", "web"}, ""},
		{"a ReplicationController", []string{"rc/web"}, object{"ReplicationController", "web"}, ""},
		{"with its group", []string{"cronjobs.batch/nightly"}, object{"CronJob", "nightly"}, ""},
		{"with its version and group", []string{"deployments.v1.apps", "web"}, object{"Deployment", "web"}, ""},
		{"of another group", []string{"deployments.example.com/web"}, object{}, "type \"deployments.example.com\" names a group, and workloads are told by kind and name, whatever their group: write Deployment\nsee \"pause --help\""},
		{"a pod of a group", []string{"pods.apps/web"}, object{}, "type \"pods.apps\" names a group, and workloads are told by kind and name, whatever their group: write Pod\nsee \"pause --help\""},
		{"the kind of somebody else with its group", []string{"Rollout.argoproj.io/web"}, object{}, "type \"Rollout.argoproj.io\" names a group, and workloads are told by kind and name, whatever their group: write Rollout\nsee \"pause --help\""},
		{"the resource of somebody else", []string{"rollouts.argoproj.io/web"}, object{}, "there is no type \"rollouts.argoproj.io\": it is " + types + "\nsee \"pause --help\""},
		{"no such type", []string{"service/web"}, object{}, "there is no type \"service\": it is " + types + "\nsee \"pause --help\""},
		{"two pods", []string{"a", "b"}, object{}, "\"a\" and \"b\" are two pods: name one, or TYPE NAME, where TYPE is " + types + "\nsee \"pause --help\""},
		{"three pods", []string{"a", "b", "c"}, object{}, "name one thing: a POD, TYPE/NAME or TYPE NAME\nsee \"pause --help\""},
		{"two with types", []string{"deploy/a", "deploy/b"}, object{}, "name one thing: a POD, TYPE/NAME or TYPE NAME\nsee \"pause --help\""},
		{"an empty pod", []string{""}, object{}, "the name of the pod is empty\nsee \"pause --help\""},
		{"an empty name", []string{"deploy/"}, object{}, "the name of the deploy is empty\nsee \"pause --help\""},
		{"an empty name in two words", []string{"deploy", ""}, object{}, "the name of the deploy is empty\nsee \"pause --help\""},
		{"an empty type", []string{"/web"}, object{}, "there is no type \"\": it is " + types + "\nsee \"pause --help\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseObject(&cobra.Command{Use: "pause"}, tc.args)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%q is %v, %v; want %v, %q", tc.args, got, err, tc.want, tc.err)
			}
		})
	}
}
