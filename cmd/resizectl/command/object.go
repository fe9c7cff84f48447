package command

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

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
type Object struct {
	Kind, Name string
	// Namespace is the namespace that the argument names; empty if it names none.
	Namespace string
}

// podless are types of kubectl that have no pods. Without this list, they would be read as namespaces.
var podless = []string{
	"configmap", "configmaps", "cm", "endpoints", "ep", "ingress", "ingresses", "ing", "namespace", "namespaces", "ns", "node", "nodes", "no",
	"persistentvolumeclaim", "persistentvolumeclaims", "pvc", "secret", "secrets", "service", "services", "svc", "serviceaccount", "serviceaccounts", "sa",
}

// ParseObject parses kubectl's forms: POD, TYPE/NAME and TYPE NAME; and the forms in which names are
// printed: NAMESPACE/POD and NAMESPACE/TYPE/NAME.
func ParseObject(cmd *cobra.Command, args []string) (Object, error) {
	var o Object
	var typ string
	parts := []string{}
	if len(args) > 0 {
		parts = strings.Split(args[0], "/")
	}
	switch {
	case len(args) == 0:
		return o, nil
	case len(args) > 2 || len(args) == 2 && len(parts) > 1:
		return o, UsageErrorf(cmd, "%s are too many arguments: name one POD, TYPE/NAME or TYPE NAME", strings.Join(args, " "))
	case len(args) == 2:
		typ, o.Name = args[0], args[1]
		if kind, _ := kindOf(strings.Split(typ, ".")[0]); kind == "" {
			return o, UsageErrorf(cmd, "%q and %q are two pods: name one of them, or a workload, such as deployment/web", typ, o.Name)
		}
	case len(parts) == 1:
		typ, o.Name = podKind, args[0]
	case len(parts) == 2 && IsNamespace(parts[0]):
		o.Namespace, typ, o.Name = parts[0], podKind, parts[1]
	case len(parts) == 2:
		typ, o.Name = parts[0], parts[1]
	case len(parts) == 3 && IsNamespace(parts[0]):
		o.Namespace, typ, o.Name = parts[0], parts[1], parts[2]
	default:
		return o, UsageErrorf(cmd, "%q is no name: name one POD, TYPE/NAME, NAMESPACE/POD or NAMESPACE/TYPE/NAME", args[0])
	}
	if o.Name == "" {
		return o, UsageErrorf(cmd, "the name of the %s in %q is empty: name one POD, TYPE/NAME or TYPE NAME", strings.ToLower(typ), strings.Join(args, " "))
	}
	var err error
	o.Kind, err = parseKind(cmd, typ)
	return o, err
}

// IsNamespace reports whether the text before a slash is a namespace, not a type.
func IsNamespace(text string) bool {
	kind, _ := kindOf(text)
	return kind == "" && !slices.Contains(podless, text) && len(validation.IsDNS1123Label(text)) == 0
}

// In returns the namespace of the object: the one that it names, or else that of --namespace.
func (o Object) In(cmd *cobra.Command, namespace string) (string, error) {
	if o.Namespace == "" {
		return namespace, nil
	}
	if cmd.Flags().Changed("namespace") && namespace != o.Namespace {
		if o.Kind == podKind {
			return "", UsageErrorf(cmd, "%s/%s is a pod in namespace %s, but --namespace is %s: set only one of them, or write a kind as in its manifest, such as Rollout/%s", o.Namespace, o.Name, o.Namespace, namespace, o.Name)
		}
		return "", UsageErrorf(cmd, "%s/%s is in namespace %s, but --namespace is %s: set only one of them", o.Namespace, o.Name, o.Namespace, namespace)
	}
	return o.Namespace, nil
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
