package command

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// podKind is the kind of what is named without one.
const podKind = "Pod"

// kindNames are the kinds that have names of kubectl's, with their group: the plural,
// the singular and the short one, in lower case.
var kindNames = []struct {
	kind, group string
	names       []string
}{
	{podKind, "", []string{"pods", "pod", "po"}},
	{"Deployment", "apps", []string{"deployments", "deployment", "deploy"}},
	{"ReplicaSet", "apps", []string{"replicasets", "replicaset", "rs"}},
	{"StatefulSet", "apps", []string{"statefulsets", "statefulset", "sts"}},
	{"DaemonSet", "apps", []string{"daemonsets", "daemonset", "ds"}},
	{"Job", "batch", []string{"jobs", "job"}},
	{"CronJob", "batch", []string{"cronjobs", "cronjob", "cj"}},
	{"ReplicationController", "", []string{"replicationcontrollers", "replicationcontroller", "rc"}},
}

// parseKind is the kind that kubectl means by a type, e.g. "deploy" or
// "deployment.apps". The kinds of others, e.g. "Rollout", are named as they are
// written. The API has no groups: one that would tell nothing is refused.
func parseKind(cmd *cobra.Command, typ string) (string, error) {
	name, group, _ := strings.Cut(typ, ".")
	kind, known := kindOf(name)
	switch {
	case kind == "":
		return "", UsageErrorf(cmd, "there is no type %q: it is %s", typ, aType())
	case group != "" && strings.TrimPrefix(group, "v1.") != known:
		return "", UsageErrorf(cmd, "type %q names a group, and workloads are told by kind and name, whatever their group: write %s", typ, kind)
	}
	return kind, nil
}

// kindOf is the kind of a type without its group, and the group if it is one of
// kindNames; empty if there is none.
func kindOf(name string) (kind, group string) {
	for _, k := range kindNames {
		if slices.Contains(k.names, strings.ToLower(name)) {
			return k.kind, k.group
		}
	}
	if name != "" && unicode.IsUpper([]rune(name)[0]) {
		return name, ""
	}
	return "", ""
}

// Object is a pod, or a workload with its pods. Without a name it is neither.
type Object struct{ Kind, Name string }

// ParseObject takes kubectl's forms: POD, TYPE/NAME and TYPE NAME.
func ParseObject(cmd *cobra.Command, args []string) (Object, error) {
	if len(args) == 0 {
		return Object{}, nil
	}
	typ, name, typed := strings.Cut(args[0], "/")
	switch {
	case len(args) == 1 && !typed:
		typ, name = podKind, args[0]
	case len(args) == 2 && !typed:
		name = args[1]
		if kind, _ := kindOf(strings.Split(typ, ".")[0]); kind == "" {
			return Object{}, UsageErrorf(cmd, "%q and %q are two pods: name one, or TYPE NAME, where TYPE is %s", typ, name, aType())
		}
	case len(args) > 1:
		return Object{}, UsageErrorf(cmd, "name one thing: a POD, TYPE/NAME or TYPE NAME")
	}
	if name == "" {
		return Object{}, UsageErrorf(cmd, "the name of the %s is empty", strings.ToLower(typ))
	}
	kind, err := parseKind(cmd, typ)
	if err != nil {
		return Object{}, err
	}
	return Object{kind, name}, nil
}

// aType says what a type may be.
func aType() string {
	return "one of " + strings.Join(typeNames(), ", ") + ", or a kind as it is written in a manifest, such as Rollout"
}

// typeNames are the types by the names that people write.
func typeNames() []string {
	names := make([]string, len(kindNames))
	for i, k := range kindNames {
		names[i] = k.names[1]
	}
	return names
}

// Pod is the name of the pod, empty if it is none.
func (o Object) Pod() string {
	if o.Kind == podKind {
		return o.Name
	}
	return ""
}

// Workload is the workload in the API, nil if it is none.
func (o Object) Workload() *workloadresizerv1.Workload {
	if o.Name == "" || o.Kind == podKind {
		return nil
	}
	return &workloadresizerv1.Workload{Kind: o.Kind, Name: o.Name}
}
