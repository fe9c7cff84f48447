package client

import (
	"context"
	"errors"
	"io"
	"unicode/utf8"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// MaxManifestBytes is the maximum size of a manifest, in bytes.
const MaxManifestBytes = 1 << 20

// manifestPart is how much of a manifest is sent in one message, in bytes: with the node types
// and the what-if, a message stays below the server's limit of 64 KiB.
const manifestPart = 16 << 10

// PreviewManifest plans the pods of the request's manifest, which may have up to
// MaxManifestBytes. It sends the manifest in parts. Errors are gRPC status errors.
func PreviewManifest(ctx context.Context, plans workloadresizerv1.PlanServiceClient, request *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
	stream, err := plans.PreviewManifest(ctx)
	if err != nil {
		return nil, err
	}
	part := &workloadresizerv1.PreviewManifestRequest{NodeTypes: request.GetNodeTypes(), WhatIf: request.GetWhatIf()}
	for rest := request.GetManifest(); ; {
		part.Manifest, rest = cut(rest)
		// The reason why the server ends the call early comes with its response.
		if err := stream.Send(part); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		} else if err != nil || rest == "" {
			return stream.CloseAndRecv()
		}
		part = &workloadresizerv1.PreviewManifestRequest{}
	}
}

// cut splits text after a part that is sent in one message. It splits no character, since
// each message must be valid UTF-8.
func cut(text string) (part, rest string) {
	if len(text) <= manifestPart {
		return text, ""
	}
	at := manifestPart
	for at > manifestPart-utf8.UTFMax && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at], text[at:]
}
