# One image for every role: `assay serve`, `assay api`, `assay work`, `assay migrate`.
FROM python:3.13-slim

# tini reaps the children that read documents, should one outlive its parent, and passes signals on.
# Scanned pages are read where tesseract is there: --build-arg OCR_LANGUAGES="eng deu"
ARG OCR_LANGUAGES=""
RUN apt-get update \
 && apt-get install -y --no-install-recommends tini \
      $(test -z "$OCR_LANGUAGES" || { echo tesseract-ocr; printf 'tesseract-ocr-%s ' $OCR_LANGUAGES; }) \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /app
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# First what changes rarely: every file of it is held against its hash.
COPY requirements-postgres.lock ./
RUN pip install --require-hashes -r requirements-postgres.lock
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-deps --no-build-isolation .

# No root, and nothing of ours that the service could overwrite.
RUN useradd --system --uid 10001 --user-group --no-create-home assay \
 && install -d -o assay -g assay -m 700 /data
USER 10001:10001
ENV ASSAY_HOST=0.0.0.0 ASSAY_PORT=8080 ASSAY_DATA_DIR=/data
VOLUME /data
EXPOSE 8080

# Alive, not ready: a database that is away is no reason to kill a healthy process. Workers switch it off.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/livez', timeout=2)"]

ENTRYPOINT ["tini", "--", "assay"]
CMD ["serve"]
