package usage

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/values"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// GetUsageStatus implements workloadresizerv1.UsageServiceServer.
func (s *Service) GetUsageStatus(context.Context, *workloadresizerv1.GetUsageStatusRequest) (*workloadresizerv1.GetUsageStatusResponse, error) {
	if err := s.enabled(); err != nil {
		return nil, err
	}
	d := s.config.Demands
	response := &workloadresizerv1.GetUsageStatusResponse{Containers: int64(d.Containers()), Recommendations: int64(d.Table().Len()), Collecting: d.Collects()}
	for _, source := range d.Sources() {
		response.Sources = append(response.Sources, sourceMessage(&source))
	}
	if d.Keeper != nil {
		response.Storage = storageMessage(d.Keeper.Status())
	}
	return response, nil
}

func sourceMessage(s *demand.SourceStatus) *workloadresizerv1.UsageSource {
	m := &workloadresizerv1.UsageSource{
		Name: s.Name, ReadIntervalDuration: durationpb.New(s.Interval), ReadTime: values.Timestamp(s.Read), SampleTime: values.Timestamp(s.Newest),
		Message: textOf(s.Err), Counted: int64(s.Counted), Rejected: int64(s.Rejected), Waiting: int64(s.Waiting), BackfillBeginTime: values.Timestamp(s.Began),
	}
	if done, known := s.Backfilled(); known {
		m.BackfillProgress = &done
	}
	return m
}

func storageMessage(s checkpoint.Status) *workloadresizerv1.UsageStorage {
	m := &workloadresizerv1.UsageStorage{StoreTime: values.Timestamp(s.Stored), Message: textOf(s.Err)}
	for _, shard := range s.Shards {
		m.Bytes += int64(shard.Bytes)
		m.Shards = append(m.Shards, &workloadresizerv1.UsageShard{
			Name: shard.Name, StoreTime: values.Timestamp(shard.Stored), Bytes: int64(shard.Bytes), Containers: int64(shard.Containers), Message: textOf(shard.Err),
		})
	}
	return m
}

// textOf returns the text of an error; empty for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
