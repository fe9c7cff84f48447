package manifests

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/policy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/manifest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// mostContainers is the maximum number of containers that are planned for one
// response. A container counts once per node type.
const mostContainers = 20_000

// Preview plans the pods that a manifest would create, for each node type of the request, with the
// ratios of a store; shown is nil without the source production. Workloads are the kinds to plan besides those of Kubernetes and of the planner.
func Preview(ctx context.Context, planner *plan.Planner, workloads []schema.GroupResource, store *ratios.Store, shown Production, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	table, err := WhatIf(store, shown, request.GetWhatIf())
	if err == nil && table == nil {
		table, err = values.ReadyTable(store)
	}
	if err != nil {
		return nil, err
	}
	found, err := manifest.Read([]byte(request.GetManifest()), manifest.Options{OwnerKinds: planner.OwnerKinds, WorkloadKinds: workloads, Namespace: request.GetNamespace()})
	if err != nil {
		return nil, rpcerror.BadField("manifest", err.Error())
	}
	if !slices.ContainsFunc(found.Objects, func(o manifest.Object) bool { return o.Pod != nil }) {
		return nil, rpcerror.BadField("manifest", nothingIn(found))
	}
	asked, err := askedNodeTypes(request.GetNodeTypes(), table)
	if err != nil {
		return nil, err
	}
	nodeTypes, containers := make([][]string, len(found.Objects)), 0
	for i := range found.Objects {
		if found.Objects[i].Pod == nil {
			continue
		}
		if nodeTypes[i] = asked; len(asked) == 0 {
			nodeTypes[i] = plan.NodeTypesOf(found.Objects[i].Pod, table)
		}
		containers += len(nodeTypes[i]) * max(1, len(found.Objects[i].Pod.Containers))
	}
	if containers > mostContainers {
		return nil, rpcerror.BadField("manifest", fmt.Sprintf("has %d containers to plan, counted once per node type, more than %d; name fewer node types, or split the manifest", containers, mostContainers))
	}
	response := &workloadresizerv1.PreviewManifestResponse{Ignored: found.Ignored}
	bytes := 0
	for i := range found.Objects {
		object := &found.Objects[i]
		out := &workloadresizerv1.ManifestPlan{Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, Warnings: object.Warnings}
		out.FollowsUsage = object.Pod != nil && table.Profile(object.Pod).Usage() != policy.Observe
		for _, nodeType := range nodeTypes[i] {
			if err := ctx.Err(); err != nil {
				return nil, status.FromContextError(err).Err()
			}
			p := Message(planner.Imagine(object.Pod, nodeType, table))
			if bytes += proto.Size(p); bytes > limits.AnswerBytes {
				return nil, rpcerror.BadField("manifest", fmt.Sprintf("needs a response of more than %d MiB; name fewer node types, or split the manifest", limits.AnswerBytes>>20))
			}
			out.Plans = append(out.Plans, p)
		}
		response.Objects = append(response.Objects, out)
	}
	return response, nil
}

// nothingIn returns the error for a manifest without objects that are planned: which objects would be, or
// else which kinds are supported, and which objects it has instead.
func nothingIn(found *manifest.Manifest) string {
	text := "has no object that creates pods, of these kinds: " + strings.Join(manifest.Planned(), ", ")
	if len(found.Objects) > 0 {
		text = "has no object that is planned"
	}
	for _, object := range found.Objects[:min(len(found.Objects), 5)] {
		text += fmt.Sprintf("; %s %s is %s", object.Kind, object.Name, object.Warnings[0])
	}
	if n := len(found.Ignored); n > 0 {
		text += fmt.Sprintf("; ignored: %s", strings.Join(found.Ignored[:min(n, 5)], ", "))
		if n > 5 {
			text += fmt.Sprintf(" and %d more", n-5)
		}
	}
	if len(found.Objects) == 0 {
		text += ": name a manifest with a pod or a workload"
	}
	return text
}

// askedNodeTypes returns the node types that the request names, in order and without
// duplicates.
func askedNodeTypes(asked []string, table *ratios.Table) ([]string, error) {
	var faults []rpcerror.Violation
	for i, nodeType := range asked {
		if !anyKnows(table, nodeType) {
			faults = append(faults, rpcerror.Violation{Field: fmt.Sprintf("node_types[%d]", i), Problem: unknownType(table, nodeType)})
		}
	}
	if len(faults) > 0 {
		return nil, rpcerror.BadFields(faults)
	}
	return slices.Compact(slices.Sorted(slices.Values(asked))), nil
}
