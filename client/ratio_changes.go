package client

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// updateTries is how often UpdateRatioFunc tries if other callers are faster.
const updateTries = 5

// ChangeOption is an option of a ratio change.
type ChangeOption func(*ratioChange)

type ratioChange struct {
	reason, author, etag       string
	allowMissing, validateOnly bool
	allowImplausible           bool
	expireTime                 *timestamppb.Timestamp
}

func changeOf(opts []ChangeOption) (c ratioChange) {
	for _, set := range opts {
		set(&c)
	}
	return c
}

// Because gives the reason for the change, for readers of the history.
func Because(reason string) ChangeOption { return func(c *ratioChange) { c.reason = reason } }

// By names the author of the change, for a server that does not authenticate its callers.
func By(author string) ChangeOption { return func(c *ratioChange) { c.author = author } }

// AllowMissing lets SetRatio and UpdateRatioFunc name a node type that is not in the table
// yet, and DeleteRatio one without an override.
func AllowMissing() ChangeOption { return func(c *ratioChange) { c.allowMissing = true } }

// AllowImplausible makes the change even if it makes node types implausible, so that these are
// not used. Otherwise such a change fails as FAILED_PRECONDITION (reason IMPLAUSIBLE_RATIO).
func AllowImplausible() ChangeOption { return func(c *ratioChange) { c.allowImplausible = true } }

// ValidateOnly stores nothing; the response reports what the change would mean for the pods.
func ValidateOnly() ChangeOption { return func(c *ratioChange) { c.validateOnly = true } }

// IfEtag fails the change as ABORTED (reason ETAG_MISMATCH) if the override has changed
// since that etag was read. It is for SetRatio and DeleteRatio.
func IfEtag(etag string) ChangeOption { return func(c *ratioChange) { c.etag = etag } }

// Until makes the override expire at that time. It is for SetRatio.
func Until(t time.Time) ChangeOption {
	return func(c *ratioChange) { c.expireTime = timestamppb.New(t) }
}

// SetRatio overrides the ratio of a node type. A performance of 0 is left unchanged.
//
// It is never retried: after an error with IsUnreachable, the ratio may or may not have
// been set.
func (c *Client) SetRatio(ctx context.Context, nodeType string, cpuPerf, memoryPerf float64, opts ...ChangeOption) (*workloadresizerv1.UpdateRatioResponse, error) {
	change := changeOf(opts)
	request := change.update(&workloadresizerv1.Ratio{NodeType: nodeType, CpuPerf: cpuPerf, MemoryPerf: memoryPerf, ExpireTime: change.expireTime})
	request.Ratio.Etag = change.etag
	return c.ratios.UpdateRatio(ctx, request)
}

// UpdateRatioFunc reads the ratio of a node type, lets modify change its cpu_perf,
// memory_perf and expire_time, and overrides the ratio with the result. If another caller
// changes the ratio meanwhile, it starts over, a few times, so modify may be called more
// than once. It stops at an error of modify, and writes nothing if modify changes nothing.
// With AllowMissing, modify gets an empty ratio for an unknown node type.
//
// A write whose answer is lost is not retried, as in SetRatio.
func (c *Client) UpdateRatioFunc(ctx context.Context, nodeType string, modify func(*workloadresizerv1.Ratio) error, opts ...ChangeOption) (*workloadresizerv1.UpdateRatioResponse, error) {
	change := changeOf(opts)
	for try := 1; ; try++ {
		before, err := c.GetRatio(ctx, nodeType)
		if change.allowMissing && Reason(err) == "NODE_TYPE_UNKNOWN" {
			before, err = &workloadresizerv1.Ratio{NodeType: nodeType}, nil
		}
		if err != nil {
			return nil, err
		}
		after := proto.CloneOf(before)
		if err := modify(after); err != nil {
			return nil, err
		}
		mask := changedFields(before, after)
		if len(mask.GetPaths()) == 0 {
			return &workloadresizerv1.UpdateRatioResponse{Ratio: before}, nil
		}
		request := change.update(&workloadresizerv1.Ratio{
			NodeType: nodeType, CpuPerf: after.GetCpuPerf(), MemoryPerf: after.GetMemoryPerf(), ExpireTime: after.GetExpireTime(), Etag: before.GetEtag(),
		})
		request.UpdateMask = mask
		resp, err := c.ratios.UpdateRatio(ctx, request)
		if Reason(err) != "ETAG_MISMATCH" || try == updateTries {
			return resp, err
		}
	}
}

// DeleteRatio deletes the override of a node type, so that the other sources apply again.
//
// It is never retried, as in SetRatio.
func (c *Client) DeleteRatio(ctx context.Context, nodeType string, opts ...ChangeOption) (*workloadresizerv1.DeleteRatioResponse, error) {
	change := changeOf(opts)
	return c.ratios.DeleteRatio(ctx, &workloadresizerv1.DeleteRatioRequest{
		NodeType: nodeType, Etag: change.etag, AllowMissing: change.allowMissing, ValidateOnly: change.validateOnly,
		Reason: change.reason, Author: change.author, AllowImplausible: change.allowImplausible,
	})
}

func (c *ratioChange) update(ratio *workloadresizerv1.Ratio) *workloadresizerv1.UpdateRatioRequest {
	return &workloadresizerv1.UpdateRatioRequest{
		Ratio: ratio, AllowMissing: c.allowMissing, AllowImplausible: c.allowImplausible, ValidateOnly: c.validateOnly, Reason: c.reason, Author: c.author,
	}
}

// changedFields returns a mask of the fields that the caller may change and did change.
func changedFields(before, after *workloadresizerv1.Ratio) *fieldmaskpb.FieldMask {
	mask := &fieldmaskpb.FieldMask{}
	if before.GetCpuPerf() != after.GetCpuPerf() {
		mask.Paths = append(mask.Paths, "cpu_perf")
	}
	if before.GetMemoryPerf() != after.GetMemoryPerf() {
		mask.Paths = append(mask.Paths, "memory_perf")
	}
	if !proto.Equal(before.GetExpireTime(), after.GetExpireTime()) {
		mask.Paths = append(mask.Paths, "expire_time")
	}
	return mask
}
