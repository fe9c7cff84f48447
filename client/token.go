package client

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// bearer sends a token with every call.
type bearer struct {
	token TokenFunc
	// plaintext allows a connection without encryption, which must not leave this
	// machine.
	plaintext bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b.token(ctx)
	if err != nil {
		// gRPC replaces the message of an error that is not a status.
		return nil, status.Errorf(codes.Unauthenticated, "get a token for the server: %v", err)
	}
	if token == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return !b.plaintext }

func tokenOf(path string) TokenFunc {
	return func(context.Context) (string, error) {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		token := string(bytes.TrimSpace(content))
		if token == "" {
			return "", fmt.Errorf("%s is empty", path)
		}
		return token, nil
	}
}
