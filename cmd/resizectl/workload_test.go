package main

import (
	"testing"

	"github.com/spf13/cobra"
)

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
		{"no such type", []string{"service/web"}, object{}, "there is no type \"service\": it is one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, or a kind as it is written in a manifest\nsee \"pause --help\""},
		{"two pods", []string{"a", "b"}, object{}, "there is no type \"a\": it is one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, or a kind as it is written in a manifest\nsee \"pause --help\""},
		{"two with types", []string{"deploy/a", "deploy/b"}, object{}, "name one thing: a POD, TYPE/NAME or TYPE NAME\nsee \"pause --help\""},
		{"an empty pod", []string{""}, object{}, "the name of the pod is empty\nsee \"pause --help\""},
		{"an empty name", []string{"deploy/"}, object{}, "the name of the deploy is empty\nsee \"pause --help\""},
		{"an empty name in two words", []string{"deploy", ""}, object{}, "the name of the deploy is empty\nsee \"pause --help\""},
		{"an empty type", []string{"/web"}, object{}, "there is no type \"\": it is one of pod, deployment, replicaset, statefulset, daemonset, job, cronjob, or a kind as it is written in a manifest\nsee \"pause --help\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseObject(&cobra.Command{Use: "pause"}, tc.args)
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("%q is %v, %v; want %v, %q", tc.args, got, err, tc.want, tc.err)
			}
		})
	}
}
