package usage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// selection selects workloads: those that match all of its fields.
type selection struct {
	target
	allNamespaces bool
	labels        string
}

func (s *selection) addFlags(cmd *cobra.Command) {
	connect.AddNamespaceFlag(cmd, &s.namespace, "namespace of the workloads")
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "show the workloads in every namespace, regardless of --namespace")
	cmd.Flags().StringVarP(&s.labels, "selector", "l", "", "only pods with these labels, such as app=web,tier!=cache")
}

// complete parses the arguments. An empty namespace would be the whole cluster to the server.
func (s *selection) complete(cmd *cobra.Command, args []string) error {
	if err := command.CheckNamespace(cmd, s.namespace, "use --all-namespaces for every namespace"); err != nil {
		return err
	}
	if err := command.CheckSelector(cmd, s.labels); err != nil {
		return err
	}
	if cmd.Flags().Changed("selector") && s.labels == "" {
		return command.UsageErrorf(cmd, "--selector is empty; omit it for all pods")
	}
	if err := s.parse(cmd, args); err != nil {
		return err
	}
	if len(args) > 0 && s.allNamespaces {
		return command.UsageErrorf(cmd, "a workload is in one namespace: name it with --namespace instead of --all-namespaces")
	}
	return nil
}

// named reports whether a workload is selected by its name.
func (s *selection) named() bool { return s.workload != nil || s.name != "" }

func (s *selection) request() *workloadresizerv1.ListRecommendationsRequest {
	request := &workloadresizerv1.ListRecommendationsRequest{Namespace: s.namespace, LabelSelector: s.labels, Workload: s.workload}
	if s.allNamespaces {
		request.Namespace = ""
	}
	return request
}

// layout returns the columns for rows about these.
func (s *selection) layout(by by) layout {
	return layout{by: by, withNamespace: s.allNamespaces || by == byNamespace}
}

// list prints what is selected, or says that nothing was found.
func (s *selection) list(ctx context.Context, server *connect.Connection, o *print.Output, by by, fetch func(context.Context, *client.Client) (*report, error)) error {
	return server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if err := s.resolve(ctx, c); err != nil {
			return err
		}
		all, err := fetch(ctx, c)
		if err != nil {
			return err
		}
		none := len(all.rows[byWorkload]) == 0
		if s.workload != nil && s.labels == "" && none {
			return s.noPods(ctx, c)
		}
		if err := all.print(o, s.layout(by), s); err != nil || !none {
			return err
		}
		return print.Texts(o.ErrOut, s.nothingFound())
	})
}

// nothingFound says that no workload is selected.
func (s *selection) nothingFound() string {
	found := "no workloads found that have pods"
	if s.labels != "" {
		found += " with labels " + s.labels
	}
	if s.allNamespaces {
		return found
	}
	return found + " in namespace " + s.namespace
}

// noPods returns the error for a workload that the server does not list. The server says what it knows of
// its pods, unless something was measured.
func (s *selection) noPods(ctx context.Context, c *client.Client) error {
	if _, err := c.GetRecommendation(ctx, s.namespace, s.workload); err != nil {
		return err
	}
	name := print.WorkloadName(s.workload)
	return fmt.Errorf("no running pods found of %s in namespace %s: \"resizectl usage explain %s -n %s\" shows what was measured before", name, s.namespace, name, s.namespace)
}

// target is a workload, or its name until resolve has found its type.
type target struct {
	namespace string
	name      string
	workload  *workloadresizerv1.Workload
}

// parse parses the argument of a command about one workload, if there is one.
func (t *target) parse(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && len(args[0]) > 3 {
		if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
			return command.UsageErrorf(cmd, "unknown command %q: did you mean %s? Name a workload as TYPE/NAME, such as deployment/%s", args[0], strings.Join(similar, " or "), args[0])
		}
	}
	switch {
	case len(args) == 1 && args[0] == "":
		return command.UsageErrorf(cmd, "the name of the workload is empty: name one as TYPE/NAME, such as deployment/web")
	case len(args) > 2:
		return command.UsageErrorf(cmd, "%s are too many arguments: name one workload as TYPE/NAME, such as deployment/web", strings.Join(args, " "))
	}
	named, err := command.ParseObject(cmd, args)
	if err != nil {
		return err
	}
	// Without a type, a name here names a workload.
	parts := 1 + strings.Count(strings.Join(args, "/"), "/")
	if named.Namespace != "" {
		parts--
	}
	if named.Pod() != "" && parts > 1 {
		return command.UsageErrorf(cmd, "%s is a pod: name its workload as TYPE/NAME, such as deployment/web", strings.Join(args, " "))
	}
	t.name, t.workload = named.Pod(), named.Workload()
	t.namespace, err = named.In(cmd, t.namespace)
	return err
}

// complete is parse for a command that needs a workload.
func (t *target) complete(cmd *cobra.Command, args []string) error {
	if err := command.CheckNamespace(cmd, t.namespace, "omit --namespace for the default one"); err != nil {
		return err
	}
	if len(args) == 0 {
		return command.UsageErrorf(cmd, "name the workload: %s TYPE/NAME", cmd.CommandPath())
	}
	return t.parse(cmd, args)
}

// resolve finds the workload that has the name, if only that is known.
func (t *target) resolve(ctx context.Context, c *client.Client) error {
	if t.workload != nil || t.name == "" {
		return nil
	}
	resp, err := c.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: t.namespace})
	if err != nil {
		return err
	}
	var found []string
	for _, r := range resp.GetRecommendations() {
		if w := r.GetWorkload(); w.GetName() == t.name && !slices.Contains(found, print.WorkloadName(w)) {
			t.workload = w
			found = append(found, print.WorkloadName(w))
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("no workload with running pods in namespace %s has the name %q: name its type, too, if it has none now, such as cronjob/%s, or the workload of a pod; \"resizectl usage -n %s\" lists workloads",
			t.namespace, t.name, t.name, t.namespace)
	case 1:
		return nil
	}
	return fmt.Errorf("several workloads in namespace %s have the name %q: name one of %s", t.namespace, t.name, strings.Join(found, ", "))
}
