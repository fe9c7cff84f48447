# Builds the image with Docker. "make image" builds the same image without Docker; a test
# compares the two.
#
#   docker buildx build --platform linux/amd64,linux/arm64 \
#     --build-arg VERSION="$(make version)" --build-arg REVISION="$(git rev-parse HEAD)" .
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:dc9ad6c05acc7a88e5b71bde60a5fe3bd4b9f0db209011711b464107438a8107 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=development
ARG REVISION
ARG PACKAGE=github.com/workload-resizer/workload-resizer/internal/version
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X $PACKAGE.version=$VERSION -X $PACKAGE.commit=$REVISION" -o /workload-resizer ./cmd/workload-resizer

FROM scratch
ARG VERSION=development
ARG REVISION
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="workload-resizer"
LABEL org.opencontainers.image.description="Resizes pods in place for the type of the node that they run on"
LABEL org.opencontainers.image.source="https://github.com/workload-resizer/workload-resizer"
LABEL org.opencontainers.image.documentation="https://github.com/workload-resizer/workload-resizer/tree/main/docs"
LABEL org.opencontainers.image.licenses="Apache-2.0"
LABEL org.opencontainers.image.version="$VERSION"
LABEL org.opencontainers.image.revision="$REVISION"
LABEL org.opencontainers.image.created="$CREATED"
COPY --from=build /workload-resizer /workload-resizer
USER 65532:65532
EXPOSE 7443/tcp 8080/tcp
ENTRYPOINT ["/workload-resizer"]
