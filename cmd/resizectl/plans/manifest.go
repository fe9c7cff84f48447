package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/configs"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/server/manifests"
)

// manifestSource is the manifest to plan, and the configuration to plan it with.
type manifestSource struct {
	files  []string
	config string
	// workloadKinds are more kinds to plan on this machine.
	workloadKinds []string
	kinds         []schema.GroupResource
}

func (m *manifestSource) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&m.files, "filename", "f", nil, "manifest to plan instead of pods in the cluster: a file, a directory, a URL, or - for standard input; can be repeated")
	cmd.Flags().StringVar(&m.config, "config", "", "config.yaml to plan the manifest with, on this machine, instead of on a server")
	cmd.Flags().StringSliceVar(&m.workloadKinds, "workload-kinds", nil, "with --config, more kinds to plan that have a spec.template, such as rollouts.argoproj.io; a server has its own --workload-kinds")
}

func (m *manifestSource) named() bool { return len(m.files) > 0 }

// validate rejects flags that are about pods in a cluster.
func (m *manifestSource) validate(cmd *cobra.Command, hasArgs bool) error {
	if hasArgs {
		return command.UsageErrorf(cmd, "name pods or a manifest (-f), not both")
	}
	if slices.Contains(m.files, "") {
		return command.UsageErrorf(cmd, "the name of the manifest is empty")
	}
	if n := slices.Index(m.files, "-"); n >= 0 && slices.Contains(m.files[n+1:], "-") {
		return command.UsageErrorf(cmd, "standard input (-f -) can be read only once")
	}
	for _, flag := range []string{"all-namespaces", "selector", "node", "server-side-preview", "what-if-node-type", whatIfMode} {
		if cmd.Flags().Changed(flag) {
			return command.UsageErrorf(cmd, "--%s is for pods in the cluster, and cannot be combined with -f", flag)
		}
	}
	if cmd.Flags().Changed("config") && m.config == "" {
		return command.UsageErrorf(cmd, "--config is empty; omit it to use a server")
	}
	if len(m.workloadKinds) > 0 && m.config == "" {
		return command.UsageErrorf(cmd, "--workload-kinds requires --config: a server plans the kinds of its own --workload-kinds")
	}
	for _, name := range m.workloadKinds {
		kind := schema.ParseGroupResource(name)
		if len(validation.IsDNS1035Label(kind.Resource)) > 0 || len(validation.IsDNS1123Subdomain(kind.Group)) > 0 {
			return command.UsageErrorf(cmd, "--workload-kinds %q is not the lowercase plural of a kind, followed by its API group, such as rollouts.argoproj.io", name)
		}
		m.kinds = append(m.kinds, kind)
	}
	if m.config == "-" && slices.Contains(m.files, "-") {
		return command.UsageErrorf(cmd, "standard input can be read only once: name a file with -f or with --config")
	}
	if cmd.Flags().Changed("config") && cmd.Flags().Changed("server") {
		return command.UsageErrorf(cmd, "--config plans on this machine, and --server on a server: set only one of them")
	}
	return nil
}

func (o *planOptions) runManifest(ctx context.Context) error {
	files, err := o.manifest.read(ctx, o.In)
	if err != nil {
		return err
	}
	request := &workloadresizerv1.PreviewManifestRequest{Manifest: files.text(), NodeTypes: o.nodeTypes, WhatIf: o.assumed, Namespace: o.manifestNamespace}
	if o.manifest.config != "" {
		return o.runOffline(ctx, files, request)
	}
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := client.PreviewManifest(ctx, c.Plans(), request)
		if err != nil {
			return files.explain(err)
		}
		return o.showManifest(response)
	})
}

// planOffline plans a manifest in this process.
var planOffline = manifests.Offline

// runOffline plans with the configuration in a file, and without a server.
func (o *planOptions) runOffline(ctx context.Context, files manifestFiles, request *workloadresizerv1.PreviewManifestRequest) error {
	with, err := configuration(ctx, o.manifest.config, o.In)
	if err != nil {
		return err
	}
	response, err := planOffline(ctx, with, o.manifest.kinds, request)
	if err != nil {
		return errors.New(connect.RefusedBecause(files.explain(err)))
	}
	return o.showManifest(response)
}

// showManifest prints the plans, and returns ErrDifferences if a pod would be resized.
func (o *planOptions) showManifest(response *workloadresizerv1.PreviewManifestResponse) error {
	if err := o.printManifest(response); err != nil {
		return err
	}
	for _, object := range response.GetObjects() {
		for _, plan := range object.GetPlans() {
			if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
				return command.ErrDifferences
			}
		}
	}
	return nil
}

// followUsage returns how many objects have pods that the configuration sizes by usage.
func followUsage(response *workloadresizerv1.PreviewManifestResponse) (n int64) {
	for _, object := range response.GetObjects() {
		if object.GetFollowsUsage() {
			n++
		}
	}
	return n
}

// printManifest prints the plans and, on standard error, notes about the manifest.
func (o *planOptions) printManifest(response *workloadresizerv1.PreviewManifestResponse) error {
	if err := print.Sort(o.SortBy, response.GetObjects()); err != nil {
		return err
	}
	switch {
	case o.Format.IsDocument():
		return o.Document(response)
	case o.Format.IsListing():
		return print.Listing(&o.Output, manifestName, response.GetObjects()...)
	}
	if err := o.Table(manifestKind.Table(response.GetObjects()...)); err != nil {
		return err
	}
	if err := print.Texts(o.Out, manifestTotals(o.Painter(), response)...); err != nil {
		return err
	}
	var notes []string
	for _, object := range response.GetObjects() {
		for _, warning := range object.GetWarnings() {
			notes = append(notes, fmt.Sprintf("warning: %s: %s", objectName(object), print.OneLine(warning)))
		}
	}
	if n := followUsage(response); n > 0 {
		notes = append(notes, fmt.Sprintf("the configuration sizes the pods of %s by usage, which only a server knows: these plans show what their authors wrote, scaled for the node types. "+
			"If the workload runs, \"resizectl usage TYPE/NAME -o wide\" shows what it needs on each node type, and \"resizectl plan\" shows the sizes of its pods", print.CountOf(n, "object")))
	}
	if others := response.GetIgnored(); len(others) > 0 {
		notes = append(notes, "not planned, because these kinds have no pods, or none that are known: "+print.OneLine(strings.Join(others, ", ")))
	}
	return print.Texts(o.ErrOut, notes...)
}

// configuration returns the configuration in a file, in any form that "config validate" reads. Plans
// show which of its ratios are implausible.
func configuration(ctx context.Context, file string, stdin io.Reader) ([]byte, error) {
	name := command.Source(file)
	text, err := name.Read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	found := configs.Find(text, configs.DefaultName)
	if len(found) > 1 {
		return nil, fmt.Errorf("%s has %d configurations, and none is in a ConfigMap named %s: use a file with one", name, len(found), configs.DefaultName)
	}
	err = found[0].Err
	if err == nil {
		err = config.Check(found[0].Text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not valid: %w; see \"resizectl config validate -f %s\"", name, err, file)
	}
	return found[0].Text, nil
}
