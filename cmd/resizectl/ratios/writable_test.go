package ratios

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// writable is a server whose ratios can be changed.
type writable struct {
	*cmdtest.Fake
	table *workloadresizerv1.ListRatiosResponse
	rules []*workloadresizerv1.RatioRule
	// impact is what dry runs return.
	impact *workloadresizerv1.Impact
	// unchanged makes writes change nothing.
	unchanged bool
	// refused fails writes, but not dry runs.
	refused error
	// unconfirmed fails writes that do not allow implausible ratios.
	unconfirmed error
}

func newWritable() *writable {
	w := &writable{table: cmdtest.Overridden(), rules: cmdtest.Rules(), impact: cmdtest.Impact()}
	w.Fake = cmdtest.Answering(
		cmdtest.Table(w.table, w.rules...),
		cmdtest.Pages(1, &workloadresizerv1.ListOverridesResponse{Overrides: overrides()}),
		cmdtest.Pages(2, &workloadresizerv1.ListOverrideChangesResponse{Changes: history()}),
		writing(w, w.update), writing(w, w.delete), writing(w, w.rollback),
	)
	return w
}

// write is a request to change overrides.
type write interface {
	proto.Message
	GetValidateOnly() bool
	GetAllowImplausible() bool
	GetReason() string
}

// writing answers a write, unless it is refused.
func writing[Q write, R proto.Message](w *writable, change func(Q) R) cmdtest.Script {
	return cmdtest.On(func(req Q) (none R, _ error) {
		switch {
		case w.unconfirmed != nil && !req.GetAllowImplausible():
			return none, w.unconfirmed
		case w.refused != nil && !req.GetValidateOnly():
			return none, w.refused
		}
		return change(req), nil
	})
}

// result returns the impact of a dry run, and the change as it is stored.
func (w *writable) result(req write, deltas ...*workloadresizerv1.OverrideDelta) (impact *workloadresizerv1.Impact, change *workloadresizerv1.OverrideChange) {
	if !w.unchanged {
		change = &workloadresizerv1.OverrideChange{CreateTime: timestamppb.New(cmdtest.Since), Author: "ann", Reason: req.GetReason(), Deltas: deltas}
	}
	if req.GetValidateOnly() {
		return w.impact, change
	}
	if change != nil {
		change.Number = new(int64(5))
	}
	return nil, change
}

func (w *writable) update(req *batch) *workloadresizerv1.BatchUpdateOverridesResponse {
	resp := &workloadresizerv1.BatchUpdateOverridesResponse{}
	var deltas []*workloadresizerv1.OverrideDelta
	for _, update := range req.GetRequests() {
		override, ratio, delta := updated(w.table, update)
		resp.Overrides, resp.Ratios, deltas = append(resp.Overrides, override), append(resp.Ratios, ratio), append(deltas, delta)
	}
	resp.Impact, resp.Change = w.result(req, deltas...)
	return resp
}

// updated returns what an override is after an update, the ratio of its node type, and the change.
func updated(table *workloadresizerv1.ListRatiosResponse, update *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.Override, *workloadresizerv1.Ratio, *workloadresizerv1.OverrideDelta) {
	to := update.GetOverride()
	ratio := ratioIn(table.GetRatios(), to.GetNodeType())
	if ratio == nil {
		ratio = &workloadresizerv1.Ratio{NodeType: to.GetNodeType()}
	}
	for _, field := range update.GetUpdateMask().GetPaths() {
		switch field {
		case "cpu_perf":
			ratio.CpuPerf, ratio.CpuFactor = to.GetCpuPerf(), 1/to.GetCpuPerf()
		case "memory_perf":
			ratio.MemoryPerf, ratio.MemoryFactor = to.GetMemoryPerf(), 1/to.GetMemoryPerf()
		case "expire_time":
			ratio.ExpireTime = to.GetExpireTime()
		}
	}
	ratio.Provenance = &workloadresizerv1.Provenance{Source: "override", Author: "ann", UpdateTime: timestamppb.New(cmdtest.Since)}
	ratio.Candidates, ratio.Etag = nil, "after"
	override := &workloadresizerv1.Override{
		NodeType: ratio.GetNodeType(), CpuPerf: &ratio.CpuPerf, MemoryPerf: &ratio.MemoryPerf, ExpireTime: ratio.GetExpireTime(),
		Author: "ann", UpdateTime: timestamppb.New(cmdtest.Since), Etag: "override-after",
	}
	return override, ratio, &workloadresizerv1.OverrideDelta{NodeType: ratio.GetNodeType(), To: &workloadresizerv1.OverrideValue{
		CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime(),
	}}
}

func (w *writable) delete(req *workloadresizerv1.DeleteOverrideRequest) *workloadresizerv1.DeleteOverrideResponse {
	resp := &workloadresizerv1.DeleteOverrideResponse{}
	ratio := ratioIn(w.table.GetRatios(), req.GetNodeType())
	if candidates := ratio.GetCandidates(); len(candidates) > 1 {
		next := candidates[1]
		resp.Ratio = &ratioOf{
			NodeType: req.GetNodeType(), CpuPerf: next.GetCpuPerf(), MemoryPerf: next.GetMemoryPerf(),
			CpuFactor: 1 / next.GetCpuPerf(), MemoryFactor: 1 / next.GetMemoryPerf(),
			Provenance: next.GetProvenance(), Candidates: candidates[1:], Etag: "none",
		}
	}
	resp.Impact, resp.Change = w.result(req, &workloadresizerv1.OverrideDelta{
		NodeType: req.GetNodeType(), From: &workloadresizerv1.OverrideValue{CpuPerf: ratio.GetCpuPerf(), MemoryPerf: ratio.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime()},
	})
	return resp
}

func (w *writable) rollback(req *workloadresizerv1.RollbackOverridesRequest) *workloadresizerv1.RollbackOverridesResponse {
	resp := &workloadresizerv1.RollbackOverridesResponse{}
	resp.Impact, resp.Change = w.result(req, &workloadresizerv1.OverrideDelta{
		NodeType: "c3", From: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 1},
	}, &workloadresizerv1.OverrideDelta{
		NodeType: "n4",
		From:     &workloadresizerv1.OverrideValue{CpuPerf: 1.08, MemoryPerf: 1},
		To:       &workloadresizerv1.OverrideValue{CpuPerf: 1.1, MemoryPerf: 1, ExpireTime: timestamppb.New(cmdtest.Since.Add(24 * time.Hour))},
	})
	if resp.Change != nil {
		resp.Change.RollbackTo = req.ToChange
	}
	return resp
}

// fallback is the permanent override that the temporary one of n4 falls back to.
func fallback() *workloadresizerv1.OverrideValue {
	return &workloadresizerv1.OverrideValue{CpuPerf: 1.1, MemoryPerf: 1}
}

// overrides returns the override of n4 in cmdtest.Overridden.
func overrides() []*workloadresizerv1.Override {
	return []*workloadresizerv1.Override{
		{NodeType: "n4", CpuPerf: new(1.08), MemoryPerf: new(1.0), ExpireTime: timestamppb.New(cmdtest.Since.Add(24 * time.Hour)), Fallback: fallback(), Etag: "override-n4"},
	}
}

// history returns changes to overrides by two users who disagreed, and an expiry.
func history() []*workloadresizerv1.OverrideChange {
	first := fallback()
	second := &workloadresizerv1.OverrideValue{CpuPerf: 1.08, MemoryPerf: 1, ExpireTime: timestamppb.New(cmdtest.Since.Add(24 * time.Hour)), Fallback: fallback()}
	ended := &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9, ExpireTime: timestamppb.New(cmdtest.Since.Add(3 * time.Hour))}
	return []*workloadresizerv1.OverrideChange{
		{Number: new(int64(4)), CreateTime: ended.GetExpireTime(), Expiry: true, Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "e2", From: ended}}},
		{Number: new(int64(3)), CreateTime: timestamppb.New(cmdtest.Since.Add(2 * time.Hour)), Author: "ann", RollbackTo: new(int64(1)), Deltas: []*workloadresizerv1.OverrideDelta{
			{NodeType: "c3", From: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: second, To: first},
		}},
		{Number: new(int64(2)), CreateTime: timestamppb.New(cmdtest.Since.Add(time.Hour)), Author: "bob", CredentialId: "JTI=4f2a", Reason: "measured\nhere", Deltas: []*workloadresizerv1.OverrideDelta{
			{NodeType: "c3", To: &workloadresizerv1.OverrideValue{CpuPerf: 1.4, MemoryPerf: 0.9}}, {NodeType: "n4", From: first, To: second},
		}},
		{Number: new(int64(1)), CreateTime: timestamppb.New(cmdtest.Since), Author: "ann", Reason: "as measured", Deltas: []*workloadresizerv1.OverrideDelta{{NodeType: "n4", To: first}}},
	}
}

// ratioIn returns a copy of the ratio of a node type; nil if there is none.
func ratioIn(ratios []*workloadresizerv1.Ratio, nodeType string) *workloadresizerv1.Ratio {
	for _, ratio := range ratios {
		if ratio.GetNodeType() == nodeType {
			return proto.CloneOf(ratio)
		}
	}
	return nil
}
