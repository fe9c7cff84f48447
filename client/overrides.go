package client

import (
	"context"
	"iter"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// NoEtag is the etag of an override or a ratio that does not exist. A change with it fails if
	// there is one.
	NoEtag = "none"

	// updateTries is how often UpdateOverrideFunc tries if other callers are faster.
	updateTries = 5
)

// ChangeOption is an option of a change to an override.
type ChangeOption func(*overrideChange)

type overrideChange struct {
	reason                 string
	etag, ratioEtag        string
	allowMissing, allowNew bool
	allowImplausible       bool
	validateOnly           bool
	expireTime             *timestamppb.Timestamp
}

func changeOf(opts []ChangeOption) (c overrideChange) {
	for _, set := range opts {
		set(&c)
	}
	return c
}

// Because gives the reason for the change, for readers of the history.
func Because(reason string) ChangeOption { return func(c *overrideChange) { c.reason = reason } }

// AllowMissing lets DeleteOverride succeed if there is no override.
func AllowMissing() ChangeOption { return func(c *overrideChange) { c.allowMissing = true } }

// AllowNewNodeType lets SetOverride and UpdateOverrideFunc name a node type that no source has a
// ratio for. Both performances must then be set.
func AllowNewNodeType() ChangeOption { return func(c *overrideChange) { c.allowNew = true } }

// AllowImplausible makes the change even if it makes node types implausible, so that these are
// not used. Otherwise such a change fails as FAILED_PRECONDITION (reason IMPLAUSIBLE_RATIO).
func AllowImplausible() ChangeOption { return func(c *overrideChange) { c.allowImplausible = true } }

// ValidateOnly stores nothing; the response reports what the change would mean for the pods.
func ValidateOnly() ChangeOption { return func(c *overrideChange) { c.validateOnly = true } }

// IfEtag fails the change as ABORTED (reason ETAG_MISMATCH) if the override is not the one with
// that etag. It is for SetOverride and DeleteOverride.
func IfEtag(etag string) ChangeOption { return func(c *overrideChange) { c.etag = etag } }

// IfRatioEtag fails the change as ABORTED (reason ETAG_MISMATCH) if the ratio in effect is not the
// one with that etag, which also covers the other sources. It is for SetOverride and
// DeleteOverride.
func IfRatioEtag(etag string) ChangeOption { return func(c *overrideChange) { c.ratioEtag = etag } }

// Until makes the override expire at that time. A permanent override of the node type then takes
// effect again. It is for SetOverride.
func Until(t time.Time) ChangeOption {
	return func(c *overrideChange) { c.expireTime = timestamppb.New(t) }
}

// ListOverrides yields the overrides, ordered by node type. It requests page after page as needed.
// An error is yielded once, last.
func (c *Client) ListOverrides(ctx context.Context) iter.Seq2[*workloadresizerv1.Override, error] {
	return items(pages(ctx, &workloadresizerv1.ListOverridesRequest{}, c.overrides.ListOverrides), (*workloadresizerv1.ListOverridesResponse).GetOverrides)
}

// ListOverrideChanges yields the changes to overrides that the request selects, newest first. It
// requests page after page as needed, of the request's page_size. An error is yielded once, last.
func (c *Client) ListOverrideChanges(ctx context.Context, request *workloadresizerv1.ListOverrideChangesRequest) iter.Seq2[*workloadresizerv1.OverrideChange, error] {
	return items(pages(ctx, request, c.overrides.ListOverrideChanges), (*workloadresizerv1.ListOverrideChangesResponse).GetChanges)
}

// SetOverride overrides the ratio of a node type. A performance of 0 is left unchanged.
func (c *Client) SetOverride(ctx context.Context, nodeType string, cpuPerf, memoryPerf float64, opts ...ChangeOption) (*workloadresizerv1.UpdateOverrideResponse, error) {
	change := changeOf(opts)
	override := &workloadresizerv1.Override{NodeType: nodeType, ExpireTime: change.expireTime, Etag: change.etag}
	if cpuPerf != 0 {
		override.CpuPerf = &cpuPerf
	}
	if memoryPerf != 0 {
		override.MemoryPerf = &memoryPerf
	}
	request := change.update(override)
	request.RatioEtag = change.ratioEtag
	return c.overrides.UpdateOverride(ctx, request)
}

// UpdateOverrideFunc reads the ratio of a node type, lets modify change its cpu_perf, memory_perf
// and expire_time, and overrides the ratio with the result. If the ratio changes meanwhile, in any
// source, it starts over, a few times, so modify may be called more than once. It stops at an
// error of modify, and writes nothing if modify changes nothing. With AllowNewNodeType, modify gets
// an empty ratio for an unknown node type.
func (c *Client) UpdateOverrideFunc(ctx context.Context, nodeType string, modify func(*workloadresizerv1.Ratio) error, opts ...ChangeOption) (*workloadresizerv1.UpdateOverrideResponse, error) {
	change := changeOf(opts)
	for try := 1; ; try++ {
		before, err := c.GetRatio(ctx, nodeType)
		if change.allowNew && Reason(err) == "NODE_TYPE_UNKNOWN" {
			before, err = &workloadresizerv1.Ratio{NodeType: nodeType, Etag: NoEtag}, nil
		}
		if err != nil {
			return nil, err
		}
		after := proto.CloneOf(before)
		if err := modify(after); err != nil {
			return nil, err
		}
		override, mask := changedFields(before, after)
		if len(mask.GetPaths()) == 0 {
			return &workloadresizerv1.UpdateOverrideResponse{Ratio: before}, nil
		}
		request := change.update(override)
		request.UpdateMask, request.RatioEtag = mask, before.GetEtag()
		resp, err := c.overrides.UpdateOverride(ctx, request)
		if Reason(err) != "ETAG_MISMATCH" || try == updateTries {
			return resp, err
		}
	}
}

// DeleteOverride deletes the override of a node type, so that the other sources apply again.
func (c *Client) DeleteOverride(ctx context.Context, nodeType string, opts ...ChangeOption) (*workloadresizerv1.DeleteOverrideResponse, error) {
	change := changeOf(opts)
	return c.overrides.DeleteOverride(ctx, &workloadresizerv1.DeleteOverrideRequest{
		NodeType: nodeType, Etag: change.etag, RatioEtag: change.ratioEtag, AllowMissing: change.allowMissing,
		AllowImplausible: change.allowImplausible, ValidateOnly: change.validateOnly, Reason: change.reason,
	})
}

func (c *overrideChange) update(override *workloadresizerv1.Override) *workloadresizerv1.UpdateOverrideRequest {
	return &workloadresizerv1.UpdateOverrideRequest{
		Override: override, AllowMissing: true, AllowNewNodeType: c.allowNew, AllowImplausible: c.allowImplausible,
		ValidateOnly: c.validateOnly, Reason: c.reason,
	}
}

// changedFields returns an override with the fields of a ratio that changed, and a mask of them.
func changedFields(before, after *workloadresizerv1.Ratio) (*workloadresizerv1.Override, *fieldmaskpb.FieldMask) {
	override, mask := &workloadresizerv1.Override{NodeType: before.GetNodeType()}, &fieldmaskpb.FieldMask{}
	if before.GetCpuPerf() != after.GetCpuPerf() {
		override.CpuPerf, mask.Paths = proto.Float64(after.GetCpuPerf()), append(mask.Paths, "cpu_perf")
	}
	if before.GetMemoryPerf() != after.GetMemoryPerf() {
		override.MemoryPerf, mask.Paths = proto.Float64(after.GetMemoryPerf()), append(mask.Paths, "memory_perf")
	}
	if !proto.Equal(before.GetExpireTime(), after.GetExpireTime()) {
		override.ExpireTime, mask.Paths = after.GetExpireTime(), append(mask.Paths, "expire_time")
	}
	return override, mask
}
