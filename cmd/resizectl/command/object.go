package command

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// podKind is the kind of an object that is named without a kind.
const podKind = "Pod"

// kindName is a kind that kubectl has names for, with its group: the plural, the singular and the short name, in
// lower case.
type kindName struct {
	kind, group string
	names       []string
}

var kindNames = []kindName{
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

// KindNamed returns the kind of a type without its group, such as Deployment for deploy; empty if there is none.
func KindNamed(typ string) string {
	kind, _ := kindOf(typ)
	return kind
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
	return print.Each(kindNames, func(k kindName) string { return k.names[1] })
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

// Pod is the pod that a command is about, or a workload or labels with such a pod.
type Pod struct {
	Object
	Namespace string
	Labels    string
}

// AddSelectorFlag adds --selector.
func (p *Pod) AddSelectorFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.Labels, "selector", "l", "", "one of the pods with these labels, such as app=web,tier!=cache, instead of a name")
}

// Complete parses the arguments.
func (p *Pod) Complete(cmd *cobra.Command, args []string) (err error) {
	if p.Object, err = ParseObject(cmd, args); err != nil {
		return err
	}
	switch selected := cmd.Flags().Changed("selector"); {
	case selected && len(args) > 0:
		return UsageErrorf(cmd, "--selector cannot be combined with the name of a pod or workload")
	case selected && p.Labels == "":
		return UsageErrorf(cmd, "--selector is empty: name the pod, or set --selector to its labels")
	case !selected && len(args) == 0:
		return UsageErrorf(cmd, "name the pod: %s POD", cmd.CommandPath())
	}
	if err := CheckSelector(cmd, p.Labels); err != nil {
		return err
	}
	if err := CheckNamespace(cmd, p.Namespace, "omit --namespace for the default one"); err != nil {
		return err
	}
	p.Namespace, err = p.In(cmd, p.Namespace)
	return err
}

// Named reports whether the pod is known by its name, not one of several.
func (p *Pod) Named() bool { return p.Pod() != "" }

// CheckNamespace returns an error for a string that cannot be the name of a namespace. instead is what to
// do to select all pods.
func CheckNamespace(cmd *cobra.Command, namespace, instead string) error {
	if namespace == "" {
		return UsageErrorf(cmd, "the namespace is empty; %s", instead)
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return UsageErrorf(cmd, "%q is not the name of a namespace: it must consist of lowercase letters, digits and -, such as my-shop", namespace)
	}
	return nil
}

// CheckSelector returns an error for a string that is not a label selector.
func CheckSelector(cmd *cobra.Command, selector string) error {
	_, err := labels.Parse(selector)
	if err == nil {
		return nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return UsageErrorf(cmd, "--selector %q is not a label selector, such as app=web,tier!=cache: %w", selector, err)
}

// CheckFlag rejects a flag that is set, but empty: a script passes that if a variable is not set. omitted says
// what happens without the flag.
func CheckFlag(cmd *cobra.Command, name, omitted string) error {
	if flag := cmd.Flags().Lookup(name); flag.Changed && strings.Trim(flag.Value.String(), "[]") == "" {
		return UsageErrorf(cmd, "--%s is empty; omit it %s", name, omitted)
	}
	return nil
}

// Name is a step that stores the argument, if there is one. An empty name is an error that says so: a script
// passes one if a variable is not set.
func Name(to *string, empty string) Step {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if *to = args[0]; *to == "" {
			return UsageErrorf(cmd, "%s", empty)
		}
		return nil
	}
}
