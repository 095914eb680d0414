# The app in a container, and as a Docker Space on Hugging Face: both expect port 7860 and user 1000. See docs/deploy.md.
FROM python:3.12-slim

# Address of an index with CPU builds of torch, which are a tenth of the size. Empty: whatever pip finds.
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 COMMOD_ROOMS_FILE=/rooms/rooms.sqlite

RUN useradd --create-home --uid 1000 user && mkdir /rooms && chown user /rooms
WORKDIR /home/user/app
COPY requirements.txt .
RUN if [ -n "$TORCH_INDEX" ]; then pip install --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)"; fi \
    && pip install -r requirements.txt
COPY --chown=1000 . .

USER 1000
VOLUME /rooms
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "7860"]
