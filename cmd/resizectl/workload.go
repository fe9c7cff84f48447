package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// podKind is the kind of what is named without one.
const podKind = "Pod"

// kindNames are the kinds that have names of kubectl's: the plural, the singular
// and the short one, in lower case.
var kindNames = []struct {
	kind  string
	names []string
}{
	{podKind, []string{"pods", "pod", "po"}},
	{"Deployment", []string{"deployments", "deployment", "deploy"}},
	{"ReplicaSet", []string{"replicasets", "replicaset", "rs"}},
	{"StatefulSet", []string{"statefulsets", "statefulset", "sts"}},
	{"DaemonSet", []string{"daemonsets", "daemonset", "ds"}},
	{"Job", []string{"jobs", "job"}},
	{"CronJob", []string{"cronjobs", "cronjob", "cj"}},
}

// kindOf is the kind that kubectl means by a type, e.g. "deploy" or
// "deployment.apps"; empty if there is none. The kinds of others, e.g. "Rollout",
// are named as they are written.
func kindOf(typ string) string {
	typ, _, _ = strings.Cut(typ, ".")
	for _, k := range kindNames {
		if slices.Contains(k.names, strings.ToLower(typ)) {
			return k.kind
		}
	}
	if typ != "" && unicode.IsUpper([]rune(typ)[0]) {
		return typ
	}
	return ""
}

// object is a pod, or a workload with its pods. Without a name it is neither.
type object struct{ kind, name string }

// parseObject takes kubectl's forms: POD, TYPE/NAME and TYPE NAME.
func parseObject(cmd *cobra.Command, args []string) (object, error) {
	if len(args) == 0 {
		return object{}, nil
	}
	typ, name, typed := strings.Cut(args[0], "/")
	switch {
	case len(args) == 1 && !typed:
		typ, name = "pod", args[0]
	case len(args) == 2 && !typed:
		name = args[1]
	case len(args) > 1:
		return object{}, usageErrorf(cmd, "name one thing: a POD, TYPE/NAME or TYPE NAME")
	}
	if name == "" {
		return object{}, usageErrorf(cmd, "the name of the %s is empty", strings.ToLower(typ))
	}
	kind := kindOf(typ)
	if kind == "" {
		return object{}, usageErrorf(cmd, "there is no type %q: it is one of %s, or a kind as it is written in a manifest", typ, strings.Join(typeNames(), ", "))
	}
	return object{kind, name}, nil
}

// typeNames are the types by the names that people write.
func typeNames() []string {
	names := make([]string, len(kindNames))
	for i, k := range kindNames {
		names[i] = k.names[1]
	}
	return names
}

// pod is the name of the pod, empty if it is none.
func (o object) pod() string {
	if o.kind == podKind {
		return o.name
	}
	return ""
}

// workload is the workload in the API, nil if it is none.
func (o object) workload() *workloadresizerv1.Workload {
	if o.name == "" || o.kind == podKind {
		return nil
	}
	return &workloadresizerv1.Workload{Kind: o.kind, Name: o.name}
}

// podName names a pod as kubectl does.
func podName(pod string) string { return "pod/" + pod }

// workloadText names a workload as kubectl does, e.g. "deployment/web".
func workloadText(w *workloadresizerv1.Workload) string {
	return oneLine(strings.ToLower(w.GetKind()) + "/" + w.GetName())
}
