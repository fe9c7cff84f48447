package command

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// podKind is the kind of an object that is named without a kind.
const podKind = "Pod"

// kindNames are the kinds that kubectl has names for, with their group: the plural, the
// singular and the short name, in lower case.
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

// parseKind returns the kind that kubectl means by a type, e.g. "deploy" or
// "deployment.apps". Other kinds, e.g. "Rollout", are named as they are written. The API has
// no groups, so a group that would be ignored is rejected.
func parseKind(cmd *cobra.Command, typ string) (string, error) {
	name, group, _ := strings.Cut(typ, ".")
	kind, known := kindOf(name)
	switch {
	case kind == "":
		return "", UsageErrorf(cmd, "unknown type %q: use %s", typ, aType())
	case group != "" && strings.TrimPrefix(group, "v1.") != known:
		return "", UsageErrorf(cmd, "type %q names a group, but kind and name identify a workload, without a group: use %s", typ, kind)
	}
	return kind, nil
}

// kindOf returns the kind of a type without its group, and the group if the kind is one of
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

// Object is a pod, or a workload with its pods. Without a name, it is neither.
type Object struct{ Kind, Name string }

// ParseObject parses kubectl's forms: POD, TYPE/NAME and TYPE NAME.
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
			return Object{}, UsageErrorf(cmd, "%q and %q are two pods: name one pod, or TYPE NAME, where TYPE is %s", typ, name, aType())
		}
	case len(args) > 1:
		return Object{}, UsageErrorf(cmd, "too many arguments: name one POD, TYPE/NAME or TYPE NAME")
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

// aType describes the valid types.
func aType() string {
	return "one of " + strings.Join(typeNames(), ", ") + ", or a kind as written in a manifest, such as Rollout"
}

// typeNames returns the types in the singular, as users usually write them.
func typeNames() []string {
	names := make([]string, len(kindNames))
	for i, k := range kindNames {
		names[i] = k.names[1]
	}
	return names
}

// Pod returns the name of the pod; empty if the object is not a pod.
func (o Object) Pod() string {
	if o.Kind == podKind {
		return o.Name
	}
	return ""
}

// Workload returns the workload in the API; nil if the object is not a workload.
func (o Object) Workload() *workloadresizerv1.Workload {
	if o.Name == "" || o.Kind == podKind {
		return nil
	}
	return &workloadresizerv1.Workload{Kind: o.Kind, Name: o.Name}
}
